import { splitPath } from './parse-path.ts';
import { isSigned, type PictureKey, verifySignature } from './signature.ts';

/**
 * Returns the signed part of a path, or throws the 403. If API Gateway has decoded the path, it is verified as it is, and with
 * the source after `plain/` encoded again in the two ways that clients encode it. The signature decides which one it was.
 */
export function signedPath({ path: raw, isDecoded }: { path: string; isDecoded: boolean }, key: PictureKey): string {
  const { signature, path } = splitPath(raw);
  const candidates = isDecoded ? [path, ...encodedPaths(path)] : [path];
  const found = candidates.find((candidate) => isSigned({ signature, path: candidate }, key));
  if (found === undefined) verifySignature({ signature, path }, key);
  return found ?? path;
}

function encodedPaths(path: string): string[] {
  const [, options, source, extension = ''] = /^(.*?\/plain\/)(.*?)(@[a-z0-9]*)?$/s.exec(path) ?? [];
  if (options === undefined || source === undefined) return [];
  return [encodeURIComponent, encodeURI].map((encode) => `${options}${encode(source)}${extension}`);
}
