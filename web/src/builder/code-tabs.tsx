import { useSignal } from '@preact/signals';
import { useAction } from '../parts/load.ts';
import { Problem } from '../parts/notice.tsx';
import { languages } from './code.ts';
import { type Draft, jobOf } from './draft.ts';

/** Shows programs that create the job of a draft, wait for it and save its files. */
export function CodeTabs({ draft }: { draft: Draft }) {
  const chosen = useSignal(0);
  const copied = useSignal('');
  const { problem, run } = useAction();
  const program = {
    job: jobOf(draft),
    url: location.origin,
    uploads: draft.tasks
      .filter(({ operation }) => operation === 'import/upload')
      .map(({ name, fileName }) => ({ task: name, path: fileName ?? `path/to/${name}` })),
  };
  const choose = (index: number) => {
    chosen.value = (index + languages.length) % languages.length;
    document.getElementById(`code-${languages[chosen.value]?.id}`)?.focus();
  };
  const byKey = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowRight') choose(chosen.value + 1);
    else if (key === 'ArrowLeft') choose(chosen.value - 1);
  };
  const language = languages[chosen.value];
  const text = language?.write(program) ?? '';
  return (
    <section class="card stack" aria-label="Code samples">
      <div class="row apart">
        <div role="tablist" aria-label="Language" class="tabs">
          {languages.map(({ id, title }, index) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`code-${id}`}
              aria-selected={index === chosen.value}
              aria-controls="code"
              tabIndex={index === chosen.value ? 0 : -1}
              onClick={() => choose(index)}
              onKeyDown={byKey}
            >
              {title}
            </button>
          ))}
        </div>
        <button
          type="button"
          onClick={() =>
            void run(async () => {
              await navigator.clipboard.writeText(text);
              copied.value = text;
            })
          }
        >
          {copied.value === text ? 'Copied' : 'Copy'}
        </button>
      </div>
      <div
        role="tabpanel"
        id="code"
        class="code"
        aria-labelledby={`code-${language?.id}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
      >
        <pre>{text}</pre>
      </div>
      {problem.value !== '' && <Problem text={problem.value} />}
    </section>
  );
}
