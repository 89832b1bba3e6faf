// Bundles the page into dist/, the tests into dist-tests/ (--test), or the scripts of reports into the
// Python package (--report), where they are committed: reports need no node. --check compares them.
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = new URL(".", import.meta.url);
const path = (name) => new URL(name, here).pathname;
const loader = { ".toml": "text" };
const common = { bundle: true, target: "es2022", loader, logLevel: "warning", legalComments: "linked" };

/** Bundles every unit test, so that node runs what the browser would. */
async function tests() {
  await rm(path("dist-tests"), { recursive: true, force: true });
  const entries = (await readdir(path("tests"))).filter((name) => name.endsWith(".test.ts"));
  await esbuild.build({
    ...common, entryPoints: entries.map((name) => path(`tests/${name}`)), outdir: path("dist-tests"),
    format: "esm", platform: "node", outExtension: { ".js": ".mjs" }, legalComments: "none",
  });
}

async function page() {
  await rm(path("dist"), { recursive: true, force: true });
  await mkdir(path("dist"));
  const minified = { ...common, minify: true, format: "esm", outdir: path("dist") };
  await esbuild.build({ ...minified, entryPoints: [path("src/main.ts")], splitting: true, chunkNames: "[name]-[hash]" });
  await esbuild.build({ ...minified, entryPoints: [path("src/worker.ts")] });
  // The figures of other pages: one script that needs nothing but the worker beside it.
  await esbuild.build({ ...minified, entryPoints: [path("src/embed.ts")], format: "iife" });
  await esbuild.build({ ...minified, entryPoints: [path("src/styles.css"), path("src/embed.css")] });
  await copyFile(path("src/index.html"), path("dist/index.html"));
  await copyFile(path("core/selfclock.wasm"), path("dist/selfclock.wasm"));
}

/** The scripts of reports, as names and texts. */
async function report() {
  const names = ["page", "rows", "replay"];
  const { outputFiles } = await esbuild.build({
    ...common, minify: true, charset: "utf8", legalComments: "none", format: "iife", write: false, outdir: path("dist"),
    entryPoints: names.map((name) => path(`src/report/${name}.ts`)),
    banner: { js: "// Built from lab/src/report by `make report-scripts`; not to be edited." },
  });
  return outputFiles.map(({ path: file, text }) => [new URL(`../python/selfclock/templates/${file.split(/[\\/]/).pop()}`, here), text]);
}

/** Prints what a visitor downloads, compressed. */
async function sizes() {
  const rows = [];
  for (const name of (await readdir(path("dist"))).filter((name) => !/LEGAL|\.map$/.test(name)).sort()) {
    rows.push([name, brotliCompressSync(await readFile(path(`dist/${name}`))).length]);
  }
  // The page does not load what other pages embed.
  const total = rows.filter(([name]) => !name.startsWith("embed")).reduce((sum, [, size]) => sum + size, 0);
  for (const [name, size] of rows) console.log(`${(size / 1000).toFixed(1).padStart(8)} kB  ${name}`);
  console.log(`${(total / 1000).toFixed(1).padStart(8)} kB  the page, brotli`);
  await writeFile(path("dist/sizes.json"), `${JSON.stringify(Object.fromEntries([...rows, ["page", total]]), null, 1)}\n`);
}

if (process.argv.includes("--test")) {
  await tests();
} else if (process.argv.includes("--report")) {
  for (const [file, text] of await report()) await writeFile(file, text);
} else if (process.argv.includes("--check")) {
  for (const [file, text] of await report()) {
    if (!existsSync(file) || (await readFile(file, "utf8")) !== text) {
      console.error(`${file.pathname} is not what lab/src/report makes: make report-scripts`);
      process.exitCode = 1;
    }
  }
} else {
  if (!existsSync(path("core/selfclock.wasm"))) {
    console.error("lab/core/selfclock.wasm is missing: make lab builds it");
    process.exit(1);
  }
  await page();
  await sizes();
}
