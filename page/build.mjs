// Builds the page's script and style into one file each: `node build.mjs [FOLDER]`, by default beside this one.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { dirname, resolve } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? resolve(here, "../python/floodway/simulation/report"));
await build({
  absWorkingDir: here,
  entryPoints: { bundle: "src/main.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  banner: { js: "/* uPlot (MIT, Leon Sorokin), d3-array, d3-interpolate, d3-scale (ISC, Mike Bostock) */" },
  outdir: out,
});
