"""A shell completes verbs, options, configs and principles, quickly; tested in real shells where they are installed."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from sfumato.cli import main
from sfumato.registry import PRINCIPLES

SHELLS = ["bash", "zsh", "fish"]


def script(shell):
    done = CliRunner().invoke(main, ["completion", shell], prog_name="sfumato")
    assert done.exit_code == 0
    return done.output


@pytest.fixture
def folder(tmp_path):
    """A working folder with a config, and a program `sfumato` that shells find first."""
    (tmp_path / "sfumato.toml").touch()
    (tmp_path / "survey.csv").touch()
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "demo.toml").touch()
    (tmp_path / ".hidden").mkdir()
    program = tmp_path / ".bin" / "sfumato"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sfumato "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def run(folder, *command, **env):
    path = f"{folder / '.bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        timeout=60,
        env={**os.environ, "PATH": path, "HOME": str(folder), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def offered(folder, *words):
    """The completions of the last word, as a shell receives them: pairs of type and value."""
    environment = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_SFUMATO_COMPLETE": "bash_complete"}
    return [tuple(line.split(",", 1)) for line in run(folder, "sfumato", **environment) if line]


def values(folder, *words):
    return [value for kind, value in offered(folder, *words) if kind == "plain"]


def test_every_verb_is_completed(folder):
    assert set(values(folder, "sfumato", "")) == set(main.commands)
    assert values(folder, "sfumato", "expl") == ["explain"]


@pytest.mark.parametrize("verb", [name for name in main.commands if name != "bench"])
def test_every_option_is_completed(folder, verb):
    declared = {name for parameter in main.commands[verb].params for name in parameter.opts if name.startswith("--")}
    assert declared <= set(values(folder, "sfumato", verb, "--"))


def test_principles_are_completed(folder):
    assert values(folder, "sfumato", "explain", "") == list(PRINCIPLES)
    assert values(folder, "sfumato", "explain", "DIS") == ["dissimilarity", "distinct-l-diversity"]


@pytest.mark.parametrize(
    "before",
    [["audit"], ["anonymize"], ["frontier"], ["verify", "release", "--config"], ["report", "release", "--config"]],
    ids=" ".join,
)
def test_configs_are_completed(folder, before):
    def after(typed):
        return offered(folder, "sfumato", *before, typed)

    assert after("s") == [("plain", "sfumato.toml")]
    assert after("") == [("plain", "sfumato.toml"), ("plain", "demo/")]
    assert after("demo/") == [("plain", "demo/demo.toml")]
    assert after("./sf") == [("plain", "./sfumato.toml")]
    assert after("de") == [("dir", "de")], "the shell goes on with folders"
    assert after("nowhere/") == []


def test_a_release_that_can_be_repeated_is_completed(folder):
    (folder / "release").mkdir()
    (folder / "release" / "release.json").touch()
    assert values(folder, "sfumato", "anonymize", "release/") == ["release/release.json"]
    assert values(folder, "sfumato", "audit", "release/") == []


def test_completion_is_light(folder):
    probe = (
        "import sys\nfrom sfumato.cli import main\n"
        "try:\n    main(prog_name='sfumato')\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numba', 'pyarrow', 'pydantic', 'numpy', 'rich') if m in sys.modules])"
    )
    env = {"COMP_WORDS": "sfumato explain k-", "COMP_CWORD": "2", "_SFUMATO_COMPLETE": "bash_complete"}
    *names, heavy = run(folder, sys.executable, "-c", probe, **env)
    assert names == ["plain,k-anonymity", "plain,k-map", "plain,k-m-anonymity", "plain,k-e-anonymity"]
    assert heavy == "[]"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_that_shell(shell):
    text = script(shell)
    assert f"_SFUMATO_COMPLETE={shell}_complete" in text
    assert {"bash": "complete -o", "zsh": "#compdef sfumato", "fish": "complete --no-files --command sfumato"}[shell] in text


def test_another_shell_is_a_usage_error():
    done = CliRunner().invoke(main, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in done.output


def needs(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def test_in_a_real_bash(folder):
    needs("bash")
    script_lines = (
        f"{script('bash')}\nCOMP_WORDS=(sfumato explain dis); COMP_CWORD=2; _sfumato_completion sfumato\n"
        'printf "%s\\n" "${COMPREPLY[@]}"; COMPREPLY=()\n'
        "COMP_WORDS=(sfumato audit sf); COMP_CWORD=2; _sfumato_completion sfumato\n"
        'printf "%s\\n" "${COMPREPLY[@]}"; complete -p sfumato'
    )
    *found, declared = run(folder, "bash", "-c", script_lines)
    assert found == ["dissimilarity", "distinct-l-diversity", "sfumato.toml"]
    assert "-F _sfumato_completion sfumato" in declared


def test_in_a_real_fish(folder):
    needs("fish")
    (folder / "sfumato.fish").write_text(script("fish"), encoding="utf-8")
    script_lines = 'source sfumato.fish; complete -C "sfumato explain dis"; complete -C "sfumato audit sf"'
    found = [line.split("\t")[0] for line in run(folder, "fish", "--no-config", "-c", script_lines)]
    assert found == ["dissimilarity", "distinct-l-diversity", "sfumato.toml"]


def test_in_a_real_zsh(folder):
    """zsh completes on a terminal only: it gets one, and Tab is pressed in it."""
    needs("zsh")
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    functions = folder / "functions"
    functions.mkdir()
    (functions / "_sfumato").write_text(script("zsh"), encoding="utf-8")
    ours, theirs = pty.openpty()
    env = {**os.environ, "PATH": f"{folder / '.bin'}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env, start_new_session=True
    )

    def type_until(keys, expected):
        os.write(ours, keys.encode())
        seen, deadline = "", time.monotonic() + 30
        while expected not in seen and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                seen += os.read(ours, 4096).decode(errors="replace")
        assert expected in seen

    try:
        type_until("fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -d $PWD/dump; echo rea''dy\r", "ready")
        type_until("sfumato explain dissim\t", "dissimilarity")
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("verb", [["completion", "bash"], ["explain", "--json"]])
def test_a_closed_pipe_is_not_an_error(verb):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "sfumato", *verb], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
