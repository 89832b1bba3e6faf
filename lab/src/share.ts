/** A scenario in the fragment of a link: `#s1=` and the base64url of a deflated JSON document. Nothing is sent anywhere. */

export interface Shared {
  toml: string;
  /** Time of the packet view in seconds, if it is open. */
  at?: number;
}

/** Largest fragment accepted, and largest text that it may expand to, five times the largest trace of the examples. */
export const MOST_CHARACTERS = 262_144;
export const MOST_BYTES = 1_048_576;
const VERSION = "s1";

/** An invalid link, with one sentence for the user. */
export class LinkError extends Error {}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of a stream; throws beyond `most` bytes, as a guard against decompression bombs. */
async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new LinkError(`The link holds more than ${most.toLocaleString("en")} bytes of text, more than any scenario needs.`);
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
  return collect(new Blob([bytes]).stream().pipeThrough(transform), most);
}

/** The fragment of a scenario, without `#`. Throws `LinkError` if it is too large for a link. */
export async function encode(shared: Shared): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(shared));
  if (text.length > MOST_BYTES) throw new LinkError("The scenario is too large for a link: save it as a file.");
  const packed = base64url(await through(text, new CompressionStream("deflate-raw"), MOST_BYTES * 2));
  if (packed.length > MOST_CHARACTERS) throw new LinkError("The scenario is too large for a link: save it as a file.");
  return `${VERSION}=${packed}`;
}

/** The scenario of a fragment without `#`; null if it has none. Throws `LinkError`. */
export async function decode(fragment: string): Promise<Shared | null> {
  const match = /^s([0-9]+)=/.exec(fragment);
  if (!match) return null;
  if (fragment.length > MOST_CHARACTERS) {
    throw new LinkError(`The link is ${fragment.length.toLocaleString("en")} characters long; at most ${MOST_CHARACTERS.toLocaleString("en")} are allowed.`);
  }
  if (match[1] !== VERSION.slice(1)) throw new LinkError("The link was made by a newer version of this page.");
  let text: string;
  try {
    const packed = bytesOf(fragment.slice(match[0].length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("The link is damaged; part of it may be missing.");
  }
  return checked(text);
}

function checked(text: string): Shared {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LinkError("The link is damaged: what it holds is no scenario.");
  }
  const { toml, at } = (typeof value === "object" && value !== null ? value : {}) as { toml?: unknown; at?: unknown };
  if (typeof toml !== "string") throw new LinkError("The link is damaged: what it holds is no scenario.");
  return typeof at === "number" && Number.isFinite(at) && at >= 0 ? { toml, at } : { toml };
}
