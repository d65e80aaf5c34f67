/** A file of a ZIP. */
interface Entry {
  name: string;
  content: Buffer;
}

/** Signatures and sizes of ZIP records (APPNOTE 4.3). */
const endRecord = { signature: 0x06054b50, bytes: 22 };
const centralRecord = { signature: 0x02014b50, bytes: 46 };
const localRecordBytes = 30;

/** Returns the files in a ZIP of the service, which stores them uncompressed and in order. */
export function entriesOf(zip: Buffer): Entry[] {
  const end = zip.length - endRecord.bytes;
  if (end < 0 || zip.readUInt32LE(end) !== endRecord.signature) throw new Error('The ZIP has no end record.');
  const entries: Entry[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== centralRecord.signature) throw new Error('The ZIP is damaged.');
    const size = zip.readUInt32LE(at + 20);
    const nameBytes = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const start = local + localRecordBytes + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const name = zip.toString('utf8', at + centralRecord.bytes, at + centralRecord.bytes + nameBytes);
    entries.push({ name, content: zip.subarray(start, start + size) });
    at += centralRecord.bytes + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}
