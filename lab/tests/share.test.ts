import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { LinkError, MOST_BYTES, MOST_CHARACTERS, decode, encode } from "../src/share.ts";

const packed = (text: string | Buffer): string => `s1=${deflateRawSync(text).toString("base64url")}`;

test("what is shared comes back to the last byte", async () => {
  const toml = 'schema = 1\ntitle = "µs, 中文, \\u0000 <script>alert(1)</script>"\n';
  assert.deepEqual(await decode(await encode({ toml, at: 1.25 })), { toml, at: 1.25 });
  assert.deepEqual(await decode(await encode({ toml })), { toml });
});

test("a link needs no more than the letters of base64url", async () => {
  assert.match(await encode({ toml: "x".repeat(1000) + String.fromCharCode(...Array(255).keys()) }), /^s1=[A-Za-z0-9_-]+$/);
});

test("other fragments are no scenario", async () => {
  for (const fragment of ["", "play", "preset=sawtooth", "plots"]) assert.equal(await decode(fragment), null);
});

test("every truncation of a link is refused in words", async () => {
  const link = await encode({ toml: 'schema = 1\nduration = "60 s"\n'.repeat(20) });
  for (let length = 3; length < link.length; length += 7) await assert.rejects(decode(link.slice(0, length)), LinkError);
});

test("a bomb is refused before it has unfolded", async () => {
  const bomb = packed(Buffer.alloc(64 * MOST_BYTES));
  assert.ok(bomb.length < MOST_CHARACTERS, "it must be the text that is too long, not the link");
  await assert.rejects(decode(bomb), /more than 1,048,576 bytes/);
});

test("ten megabytes are refused without being read", async () => {
  const { atob } = globalThis;
  globalThis.atob = () => assert.fail("it was read");
  try {
    await assert.rejects(decode(`s1=${"A".repeat(10_000_000)}`), /at most 262,144/);
  } finally {
    globalThis.atob = atob;
  }
});

test("what unpacks to no scenario is refused", async () => {
  for (const text of ["no JSON", "[]", "null", '{"toml": 5}', '{"at": 1}', Buffer.from([0x22, 0xff, 0xfe, 0x22])]) {
    await assert.rejects(decode(packed(text)), LinkError);
  }
  await assert.rejects(decode(`s9=${packed("{}").slice(3)}`), /newer version/);
  await assert.rejects(decode("s1=%%%"), /damaged/);
});

test("invalid times are left out", async () => {
  for (const at of ['"1"', "-1", "1e999", "null"]) assert.deepEqual(await decode(packed(`{"toml":"x","at":${at}}`)), { toml: "x" });
});

test("what is too large for a link cannot be shared", async () => {
  await assert.rejects(encode({ toml: "x".repeat(MOST_BYTES + 1) }), /save it as a file/);
});
