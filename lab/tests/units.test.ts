import assert from "node:assert/strict";
import { test } from "node:test";
import { bps, bytesText, count, digits, percent, rateText, rateValue, seconds, timeText, timeValue } from "../src/units.ts";

test("quantities are read as scenario files write them", () => {
  // 18 times 0.001 is not the nearest to 0.018, but nearer than a picosecond.
  assert.ok(Math.abs((seconds("18 ms") ?? 0) - 0.018) < 1e-12);
  assert.equal(seconds("1.5 min"), 90);
  assert.equal(bps("10 Mbps"), 1e7);
  assert.equal(bps("49.5 Mbit/s"), 49.5e6);
  for (const none of ["18", "18 lightyears", "1 bdp", "", undefined, 5, "-1 s"]) assert.equal(seconds(none), undefined);
});

test("numbers have three digits and no exponent", () => {
  assert.deepEqual([0, 1, 0.5, 12.34, 999.6, 1234, 0.00012345, 1e-9].map((value) => digits(value)), ["0", "1", "0.5", "12.3", "1000", "1234", "0.000123", "0.000000001"]);
});

test("what is written is read as the same", () => {
  for (const value of [1e3, 4800, 1.5e6, 49.5e6, 1e9, 2.4e9]) assert.equal(bps(rateValue(value)), value);
  for (const value of [0, 1e-6, 0.018, 0.13152, 1, 90]) assert.ok(Math.abs((seconds(timeValue(value)) ?? NaN) - value) <= 1e-3 * value);
});

test("people read units of their field", () => {
  assert.equal(rateText(1e7), "10 Mbit/s");
  assert.equal(timeText(0.04), "40 ms");
  assert.equal(timeText(2e-5), "20 µs");
  assert.equal(percent(0.025), "2.5 %");
  assert.equal(count(1139162), "1,139,162");
  assert.equal(bytesText(2.5e9), "2.5 GB");
});
