import assert from "node:assert/strict";
import { test } from "node:test";
import { Document } from "../src/toml.ts";

const TEXT = `# A comment that stays.
schema = 1
duration = "60 s" # and one here

[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "18 ms" }

[[flow]]
name = "a" # first
congestion_control = "reno"

[[flow]]
congestion_control = { window = "reno", start = "packet-pair" }
`;

test("values are found by their path", () => {
  const document = new Document(TEXT);
  assert.equal(document.value("network", "bottleneck", "rate"), "10 Mbps");
  assert.equal(document.value("flow", 1, "congestion_control", "start"), "packet-pair");
  assert.equal(document.value("network", "bottleneck"), undefined);
  assert.equal(document.length("flow"), 2);
  assert.deepEqual(document.keys("flow", 1, "congestion_control"), ["window", "start"]);
});

test("a value is replaced where it stands, and nothing else changes", () => {
  assert.equal(new Document(TEXT).set(["duration"], '"5 s"'), TEXT.replace('"60 s"', '"5 s"'));
  assert.equal(new Document(TEXT).set(["flow", 1, "congestion_control"], '"cubic"'), TEXT.replace('{ window = "reno", start = "packet-pair" }', '"cubic"'));
});

test("keys and tables that are missing are made", () => {
  const inline = new Document(TEXT).set(["network", "bottleneck", "loss", "probability"], "0.01");
  assert.ok(inline.includes('delay = "18 ms", loss = { probability = 0.01 } }'));
  assert.equal(new Document(new Document(TEXT).set(["flow", 0, "count"], "3")).value("flow", 0, "count"), 3);
  const nested = new Document(new Document(TEXT).set(["flow", 0, "transport", "ecn"], '"accurate"'));
  assert.equal(nested.value("flow", 0, "transport", "ecn"), "accurate");
  assert.equal(new Document(new Document("[network]\n").set(["seed"], "2")).value("seed"), 2);
});

test("what was set and removed leaves the text as it was", () => {
  assert.equal(new Document(new Document(TEXT).set(["flow", 0, "count"], "3")).removed("flow", 0, "count"), TEXT);
  assert.equal(new Document(new Document(TEXT).set(["network", "bottleneck", "queue"], '"1 bdp"')).removed("network", "bottleneck", "queue"), TEXT);
  assert.equal(new Document(TEXT).removed("network", "bottleneck", "rate"), TEXT.replace('rate = "10 Mbps", ', ""));
  assert.equal(new Document(TEXT).removed("nothing"), TEXT);
});

test("flows come and go", () => {
  const more = new Document(new Document(TEXT).withTable("flow", 'congestion_control = "bbr3"'));
  assert.equal(more.value("flow", 2, "congestion_control"), "bbr3");
  assert.equal(new Document(more.withoutTable("flow", 0)).length("flow"), 2);
  assert.equal(new Document(new Document(TEXT).withoutTable("flow", 1)).length("flow"), 1);
});

test("what is no TOML throws", () => {
  assert.throws(() => new Document("a = \n"));
});
