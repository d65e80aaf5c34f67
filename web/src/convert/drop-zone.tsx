import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Workpiece } from '../parts/logo.tsx';
import { add, items } from './items.ts';

/** Accepts files by drag and drop or from a file dialog, and URLs. */
export function DropZone() {
  const isOver = useSignal(false);
  const chooser = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => add([...(files ?? [])].map((file) => ({ file })));
  const isSmall = items.value.length > 0;
  return (
    <section
      class={`drop ${isOver.value ? 'over' : ''} ${isSmall ? 'low' : ''}`}
      aria-label="Files to convert"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      {!isSmall && <Workpiece />}
      <div class="row">
        <span>Drop files here, or</span>
        <button type="button" class={isSmall ? '' : 'main'} onClick={() => chooser.current?.click()}>
          Choose files
        </button>
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          currentTarget.value = '';
        }}
      />
      <AddressForm />
    </section>
  );
}

function AddressForm() {
  const problem = useSignal('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const url = String(new FormData(form).get('url')).trim();
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      problem.value = 'Enter a URL such as https://example.com/picture.png.';
      return;
    }
    problem.value = '';
    add([{ url }]);
    form.reset();
  };
  return (
    <>
      <form class="or" onSubmit={submit} noValidate>
        <input
          name="url"
          type="url"
          aria-label="URL of a file or web page"
          aria-describedby="url-problem"
          placeholder="or paste the URL of a file or web page"
          autocomplete="off"
        />
        <button type="submit">Add</button>
      </form>
      <span id="url-problem" role="alert" class="small">
        {problem.value}
      </span>
    </>
  );
}
