/** A shell command that runs a scenario, with its text included. */
export function command(toml: string): string {
  let end = "EOF";
  while (toml.split("\n").includes(end)) end += "F";
  return `cat > lab.toml <<'${end}'\n${toml.replace(/\n*$/, "\n")}${end}\nselfclock run lab.toml\n`;
}
