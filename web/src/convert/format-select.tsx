import { groupFormats } from './formats.ts';

interface Props {
  id: string;
  formats: string[];
  value: string;
  /** Label of the option for no format. */
  blank?: string;
  disabled?: boolean;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  onChange(format: string): void;
}

/** Shows a selection of formats in groups. */
export function FormatSelect({ formats, value, blank, onChange, ...attributes }: Props) {
  const isUnknown = value !== '' && !formats.includes(value);
  return (
    <select {...attributes} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {blank !== undefined && <option value="">{blank}</option>}
      {isUnknown && <option value={value}>{value.toUpperCase()}</option>}
      {groupFormats(formats).map(({ title, formats: own }) => (
        <optgroup key={title} label={title}>
          {own.map((format) => (
            <option key={format} value={format}>
              {format.toUpperCase()}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
