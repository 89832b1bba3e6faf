/** Texts and documents that a page carries: gzip in Base64. */

export function unpacked(text: string): Response {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

export const unpack = (text: string): Promise<string> => unpacked(text).text();

/** A placeholder in a document: first byte behind it, number of values, bytes of each. */
interface Stored {
  array: number;
  length: number;
  bytes: number;
}

const isStored = (value: unknown): value is Stored =>
  typeof value === "object" && value !== null && "array" in value && "bytes" in value && Boolean(value.bytes);

/** A document followed by arrays of numbers, each stored as all first bytes, then all second bytes, and so on. */
export function read(buffer: ArrayBuffer): unknown {
  const end = 4 + new DataView(buffer).getUint32(0, true);
  const known = new Map<number, Float32Array | Float64Array>();
  const array = ({ array: first, length, bytes: size }: Stored): Float32Array | Float64Array => {
    const found = known.get(first);
    if (found) return found;
    const planes = new Uint8Array(buffer, end + first, length * size), numbers = new Uint8Array(length * size);
    for (let plane = 0; plane < size; plane++) {
      for (let number = 0; number < length; number++) numbers[number * size + plane] = planes[plane * length + number] ?? 0;
    }
    const made = size === 4 ? new Float32Array(numbers.buffer) : new Float64Array(numbers.buffer);
    known.set(first, made);
    return made;
  };
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, end - 4));
  return JSON.parse(text, (_, value: unknown) => (isStored(value) ? array(value) : value));
}

export const unpackDocument = async (text: string): Promise<unknown> => read(await unpacked(text).arrayBuffer());
