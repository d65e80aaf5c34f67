import { isObject, NotUnderstood } from './properties.ts';

/** The values of `Ref` and `Fn::GetAtt` for a resource or parameter; for a condition, `true` or `false`. */
export interface Referable {
  ref: string;
  attributes?: Record<string, string>;
}

/** Resolves the intrinsic functions in a part of the template, and omits properties whose value is `AWS::NoValue`. */
export function resolve(value: unknown, names: Map<string, Referable>): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, names));
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only && (only[0] === 'Ref' || only[0].startsWith('Fn::')))
    return call(only[0], only[1], names);
  const resolved = entries.map(([key, item]) => [key, resolve(item, names)]);
  return Object.fromEntries(resolved.filter(([, item]) => item !== undefined));
}

/** Replaces substrings of all texts in a value. */
export function replaceTexts(value: unknown, replacements: [from: string, to: string][]): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replacements));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceTexts(item, replacements)]));
  if (typeof value !== 'string') return value;
  return replacements.reduce((text, [from, to]) => text.replaceAll(from, () => to), value);
}

function call(name: string, argument: unknown, names: Map<string, Referable>): unknown {
  switch (name) {
    case 'Ref':
      if (argument === 'AWS::NoValue') return undefined;
      return named(String(argument), names).ref;
    case 'Fn::GetAtt':
      return attribute(Array.isArray(argument) ? argument.map(String) : String(argument).split('.'), names);
    case 'Fn::Join': {
      const [separator, parts] = Array.isArray(argument) ? argument : [];
      const resolved = resolve(parts, names);
      if (typeof separator !== 'string' || !Array.isArray(resolved))
        throw new NotUnderstood(`Fn::Join of ${JSON.stringify(argument)}`);
      return resolved.join(separator);
    }
    case 'Fn::Sub': {
      if (typeof argument !== 'string') throw new NotUnderstood(`Fn::Sub of ${JSON.stringify(argument)}`);
      return argument.replace(/\$\{([^}!]+)\}/g, (_match, key: string) =>
        key.includes('.') ? attribute(key.split('.'), names) : named(key, names).ref,
      );
    }
    case 'Fn::Split': {
      const [separator, text] = parts(resolve(argument, names));
      if (typeof separator !== 'string' || typeof text !== 'string')
        throw new NotUnderstood(`Fn::Split of ${JSON.stringify(argument)}`);
      return text.split(separator);
    }
    case 'Fn::Select': {
      const [index, list] = parts(resolve(argument, names));
      const chosen: unknown = Array.isArray(list) ? list[Number(index)] : undefined;
      if (chosen === undefined) throw new NotUnderstood(`Fn::Select of ${JSON.stringify(argument)}`);
      return chosen;
    }
    case 'Fn::If': {
      const [condition, whenTrue, otherwise] = parts(argument);
      return resolve(named(String(condition), names).ref === 'true' ? whenTrue : otherwise, names);
    }
    case 'Fn::Equals': {
      const [left, right] = parts(resolve(argument, names));
      return String(left === right);
    }
    case 'Fn::Not': {
      const [condition] = parts(resolve(argument, names));
      return String(condition !== 'true');
    }
    default:
      throw new NotUnderstood(`The function ${name} is not understood by the local stack.`);
  }
}

function parts(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function named(name: string, names: Map<string, Referable>): Referable {
  const found = names.get(name);
  if (!found) throw new NotUnderstood(`Nothing in the template is called ${name}.`);
  return found;
}

function attribute(path: string[], names: Map<string, Referable>): string {
  const [name = '', ...rest] = path;
  const value = named(name, names).attributes?.[rest.join('.')];
  if (value === undefined)
    throw new NotUnderstood(`The attribute ${path.join('.')} is not understood by the local stack.`);
  return value;
}
