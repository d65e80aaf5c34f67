import { groupFormats } from './formats.ts';

interface Props {
  id: string;
  formats: string[];
  value: string;
  /** Stands for no format, if that may be chosen or there is none. */
  blank?: string;
  disabled?: boolean;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  onChange(format: string): void;
}

/** Lets a person choose a format. */
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
