"""Shell completion: the script with which a shell asks the command line what may come next."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click
from click.exceptions import Exit

NAME, VARIABLE = "selfclock", "_SELFCLOCK_COMPLETE"
SHELLS = ("bash", "zsh", "fish", "powershell")


def _current_shell() -> tuple[str, str]:
    """Return the name and the program of the shell that called the command."""
    import shellingham  # noqa: PLC0415  only these options ask for it

    try:
        name, program = shellingham.detect_shell()
    except shellingham.ShellDetectionFailure:
        program = os.environ.get("SHELL", "")
        name = Path(program).name
    name = "powershell" if name == "pwsh" else name
    if name not in SHELLS:
        said = f"the shell {name!r}" if name else "this shell"
        raise click.UsageError(f"there is no completion for {said}; there is one for {', '.join(SHELLS)}")
    return name, program


def script(shell: str) -> str:
    """Return the script of a shell."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415  completion alone needs it

    made = get_completion_class(shell)
    assert made is not None, shell
    return made(click.Group(NAME), {}, NAME, VARIABLE).source()


def install(shell: str, program: str = "powershell") -> Path:
    """Install the script of a shell where the shell reads it; return its file."""
    home = Path.home()
    if shell == "powershell":
        asked = [program, "-NoProfile", "-Command", "echo $profile"]
        told = subprocess.run(asked, check=True, capture_output=True, text=True)  # noqa: S603  the user's own shell
        path = Path(told.stdout.strip())
        _add(path, script(shell))
        return path
    path = {
        "bash": home / ".bash_completions" / f"{NAME}.sh",
        "zsh": home / ".zfunc" / f"_{NAME}",
        "fish": home / ".config" / "fish" / "completions" / f"{NAME}.fish",
    }[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(shell), encoding="utf-8")
    if shell == "bash":
        _add(home / ".bashrc", f"source '{path}'")
    elif shell == "zsh":
        _add(home / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    return path


def _add(file: Path, lines: str) -> None:
    """Append lines to a file that may not exist, unless it has them."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if lines not in before:
        file.parent.mkdir(parents=True, exist_ok=True)
        gap = "" if not before or before.endswith("\n") else "\n"
        file.write_text(f"{before}{gap}{lines}\n", encoding="utf-8")


def _install(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    shell, program = _current_shell()
    try:
        path = install(shell, program)
    except (OSError, subprocess.CalledProcessError) as error:
        raise click.ClickException(f"completion for {shell} was not installed: {error}") from None
    click.echo(f"Completion for {shell} is installed in {path}; it takes effect in the next shell.")
    raise Exit


def _show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(script(_current_shell()[0]))
        raise Exit


install_option = click.option(
    "--install-completion",
    is_flag=True,
    callback=_install,
    expose_value=False,
    help="Install completion for the current shell.",
)
show_option = click.option(
    "--show-completion",
    is_flag=True,
    callback=_show,
    expose_value=False,
    help="Print the completion script for the current shell, to copy or customize.",
)
