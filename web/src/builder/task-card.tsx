import { useSignal } from '@preact/signals';
import { memo } from 'preact/compat';
import { FormatPicker } from '../convert/format-picker.tsx';
import { inputsOf, outputsOf } from '../convert/formats.ts';
import { titleOf } from '../convert/option-groups.ts';
import { OptionsForm, type OptionValues } from '../convert/options-form.tsx';
import { sizeText } from '../format.ts';
import { Disclosure, Field } from '../parts/field.tsx';
import { useLatest } from '../parts/load.ts';
import {
  type DraftTask,
  type FieldProblem,
  inputFormatOf,
  possibleInputs,
  withoutTask,
  withParameter,
  withTask,
} from './draft.ts';
import { FileField, ParameterField } from './fields.tsx';
import type { Operation } from './operations.ts';
import { draft, focusOn, opened, toggleTask } from './state.ts';

interface Props {
  task: DraftTask;
  /** Undefined if the service does not have the operation. */
  operation: Operation | undefined;
  problems: FieldProblem[];
}

/** Shows a task of the draft, and its form if open. Rendered again only when the task changes. */
export const TaskCard = memo(({ task, operation, problems }: Props) => {
  const { key, name } = task;
  const isOpen = opened.value.has(key);
  const remove = () => {
    draft.value = withoutTask(draft.value, task);
    focusOn('operation');
  };
  return (
    <li class="card stack task" id={key} tabIndex={-1} aria-label={`Task ${name}`}>
      <div class="item-head">
        <div class="grow">
          <h3 class="name">
            <button
              type="button"
              class="plain toggle"
              aria-expanded={isOpen}
              aria-controls={`${key}-form`}
              onClick={() => toggleTask(key)}
            >
              {name || 'Unnamed'}
            </button>
          </h3>
          <span class="small quiet">
            {operation?.summary ?? 'Unknown operation'} <code>{task.operation}</code>
          </span>
        </div>
        {!isOpen && problems.length > 0 && <span class="wrong">{problemText(problems.length)}</span>}
        <button type="button" class="plain remove" aria-label={`Remove ${name}`} onClick={remove}>
          ✕
        </button>
      </div>
      {isOpen && <TaskForm task={task} operation={operation} problems={problems} />}
    </li>
  );
});

/** Formats a number of problems. */
export function problemText(count: number): string {
  return count === 1 ? '1 problem' : `${count} problems`;
}

function TaskForm({ task, operation, problems }: Props) {
  const { key, name, parameters } = task;
  const change = (next: DraftTask) => {
    draft.value = withTask(draft.value, next);
  };
  const problemOf = (field: string) =>
    problems
      .filter((problem) => problem.field === field)
      .map(({ text }) => text)
      .join(' ');
  const fields = operation?.parameters ?? [];
  const needed = fields.filter(({ isRequired }) => isRequired);
  const others = fields.filter(({ isRequired }) => !isRequired);
  const shownFields = ['name', 'input', 'input_format', 'output_format', 'file', ...fields.map((each) => each.name)];
  const left = problems.filter(({ field }) => !shownFields.includes(field) && !field.startsWith('options.'));
  const field = (parameter: (typeof fields)[number]) =>
    parameter.kind === 'tasks' ? (
      <TaskList
        key={parameter.name}
        task={task}
        field={parameter.name}
        label={titleOf(parameter.name)}
        hint={parameter.hint}
        chosen={task.roles?.[parameter.name] ?? []}
        problem={problemOf(parameter.name)}
        onChange={(keys) => change({ ...task, roles: { ...task.roles, [parameter.name]: keys } })}
      />
    ) : (
      <ParameterField
        key={parameter.name}
        id={`${key}-${parameter.name}`}
        parameter={parameter}
        value={parameters[parameter.name]}
        problem={problemOf(parameter.name)}
        onChange={(value) => change(withParameter(task, parameter.name, value))}
      />
    );
  return (
    <div class="stack" id={`${key}-form`}>
      {left.length > 0 && (
        <ul class="bare wrong">
          {left.map(({ field: each, text }) => (
            <li key={each + text}>{each === '' ? text : `${each}: ${text}`}</li>
          ))}
        </ul>
      )}
      <div class="fields">
        <Field id={`${key}-task-name`} label="Name" problem={problemOf('name')}>
          {(attributes) => (
            <input
              {...attributes}
              value={name}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => change({ ...task, name: currentTarget.value })}
            />
          )}
        </Field>
        {operation?.takesInput && (
          <TaskList
            task={task}
            field="input"
            label="Input"
            chosen={task.inputs}
            problem={problemOf('input')}
            onChange={(inputs) => change({ ...task, inputs })}
          />
        )}
        {task.operation === 'import/upload' && (
          <FileField
            id={`${key}-upload`}
            hint={fileHint(task)}
            onChoose={(file) => change({ ...task, file, fileName: file.name })}
          />
        )}
        {task.operation === 'import/base64' && (
          <FileField
            id={`${key}-content`}
            hint="Fills in the fields file and filename."
            onChoose={(file) => void dataUriOf(file).then((uri) => change(withContent(task, uri, file.name)))}
          />
        )}
        {operation && operation.outputFormat !== 'none' && (
          <Formats task={task} operation={operation} problemOf={problemOf} onChange={change} />
        )}
        {needed.map(field)}
      </div>
      {operation?.takesOptions && <Options task={task} operation={operation} problems={problems} onChange={change} />}
      {others.length > 0 && (
        <Disclosure
          title={`More${countText(others.filter(({ name: each }) => each in parameters || task.roles?.[each]?.length).length)}`}
          isNeeded={others.some((parameter) => problemOf(parameter.name) !== '')}
        >
          {() => <div class="options">{others.map(field)}</div>}
        </Disclosure>
      )}
    </div>
  );
}

function fileHint({ file, fileName }: DraftTask): string {
  if (file) return `${file.name}, ${sizeText(file.size)}`;
  return fileName === undefined
    ? 'Uploaded when you run the job.'
    : `Choose ${fileName} again: the page was reloaded since.`;
}

const countText = (count: number) => (count > 0 ? ` (${count})` : '');

function dataUriOf(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.addEventListener('load', () => resolve(String(reader.result)));
  reader.addEventListener('error', () => reject(reader.error));
  reader.readAsDataURL(file);
  return promise;
}

function withContent(task: DraftTask, uri: string, name: string): DraftTask {
  return withParameter(withParameter(task, 'file', uri), 'filename', name);
}

interface PartProps {
  task: DraftTask;
  onChange(task: DraftTask): void;
}

interface TaskListProps {
  task: DraftTask;
  /** The field of the operation. */
  field: string;
  label: string;
  hint?: string;
  /** Keys of tasks of the draft, or ids of existing tasks. */
  chosen: string[];
  problem: string;
  onChange(keys: string[]): void;
}

/** Shows the tasks that a field names, in order. */
function TaskList({ task, field, label, hint, chosen: inputs, problem, onChange }: TaskListProps) {
  const { key, name } = task;
  const nameOf = (input: string) => draft.value.tasks.find((each) => each.key === input)?.name ?? input;
  const left = possibleInputs(task, draft.value).filter((each) => !inputs.includes(each.key));
  const adder = `${key}-${field}`;
  const set = (next: string[]) => {
    onChange(next);
    focusOn(adder);
  };
  return (
    <Field id={adder} label={label} problem={problem} {...(hint === undefined ? {} : { hint })}>
      {(attributes) => (
        <>
          {inputs.length > 0 && (
            <ol class="bare inputs" aria-label={`${label} of ${name}`}>
              {inputs.map((input, index) => (
                <li key={input}>
                  <span>{nameOf(input)}</span>
                  {index > 0 && (
                    <button
                      type="button"
                      class="plain"
                      aria-label={`Move ${nameOf(input)} up in ${name}`}
                      onClick={() => set(inputs.toSpliced(index, 1).toSpliced(index - 1, 0, input))}
                    >
                      ↑
                    </button>
                  )}
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Remove ${nameOf(input)} from ${label.toLowerCase()} of ${name}`}
                    onClick={() => set(inputs.toSpliced(index, 1))}
                  >
                    ✕
                  </button>
                </li>
              ))}
            </ol>
          )}
          <select
            {...attributes}
            value=""
            onChange={({ currentTarget }) => {
              if (currentTarget.value !== '') set([...inputs, currentTarget.value]);
            }}
          >
            <option value="">{inputs.length > 0 ? 'Add another …' : 'Choose a task'}</option>
            {left.map((each) => (
              <option key={each.key} value={each.key}>
                {each.name}
              </option>
            ))}
          </select>
        </>
      )}
    </Field>
  );
}

interface FormatsProps extends PartProps {
  operation: Operation;
  problemOf(field: string): string;
}

/** Shows the input and output formats that the service supports for a task. */
function Formats({ task, operation, problemOf, onChange }: FormatsProps) {
  const inputs = useSignal<string[]>([]);
  const outputs = useSignal<string[]>([]);
  const failure = useSignal('');
  const from = inputFormatOf(task, draft.value);
  const known = operation.outputFormats;
  useLatest(
    () => Promise.all([inputsOf(operation.name), known ?? outputsOf(from === '' ? '*' : from, operation.name)]),
    ([readable, writable]) => {
      inputs.value = readable;
      outputs.value = writable;
    },
    failure,
    [operation.name, from],
  );
  const { parameters } = task;
  const set = (name: string) => (format: string) =>
    onChange(withParameter(task, name, format === '' ? undefined : format));
  const given = (name: string) => (typeof parameters[name] === 'string' ? parameters[name] : '');
  const detected = given('input_format') === '' && from !== '' ? ` (${from.toUpperCase()})` : '';
  return (
    <>
      {operation.takesInputFormat && (
        <Field id={`${task.key}-input_format`} label="From" problem={problemOf('input_format')}>
          {(attributes) => (
            <FormatPicker
              {...attributes}
              formats={inputs.value}
              value={given('input_format')}
              blank={`Detect automatically${detected}`}
              isBlankChoosable
              onChange={set('input_format')}
            />
          )}
        </Field>
      )}
      <Field id={`${task.key}-output_format`} label="To" problem={problemOf('output_format') || failure.value}>
        {(attributes) => (
          <FormatPicker
            {...attributes}
            formats={outputs.value}
            value={given('output_format')}
            from={from}
            blank={operation.outputFormat === 'required' ? 'Choose a format' : 'Default'}
            isBlankChoosable={operation.outputFormat !== 'required'}
            onChange={set('output_format')}
          />
        )}
      </Field>
    </>
  );
}

interface OptionsProps extends PartProps {
  operation: Operation;
  problems: FieldProblem[];
}

/** Shows the options of a task once its input format is known. */
function Options({ task, operation, problems, onChange }: OptionsProps) {
  const { key, parameters } = task;
  const values = optionsIn(task);
  const from = inputFormatOf(task, draft.value);
  const to = typeof parameters.output_format === 'string' ? parameters.output_format : '';
  const count = Object.keys(values).length;
  const own = problems.flatMap(({ field, text }) =>
    field.startsWith('options.') ? [[field.slice('options.'.length), text]] : [],
  );
  return (
    <Disclosure title={`Options${countText(count)}`} isNeeded={own.length > 0}>
      {(isOpen) =>
        from === '' && operation.takesInputFormat ? (
          <p class="quiet">Options depend on the input format. Choose it under “From” to see them.</p>
        ) : (
          (isOpen || count > 0) && (
            <OptionsForm
              id={key}
              operation={operation.name}
              from={from}
              to={to}
              values={values}
              problems={Object.fromEntries(own)}
              onChange={(next) =>
                onChange(withParameter(task, 'options', Object.keys(next).length > 0 ? next : undefined))
              }
            />
          )
        )
      }
    </Disclosure>
  );
}

function optionsIn({ parameters: { options } }: DraftTask): OptionValues {
  if (typeof options !== 'object' || options === null) return {};
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value]),
  );
}
