"""What the checks share: where the project is, which files it has, which of them changed, how a finding is printed."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP_FOLDERS = ("src", "include", "cli", "test", "bench", "examples", "cmake")
CPP_SUFFIXES = (".cpp", ".h")


def git(*args):
    """Output lines of a git command, or none where there is no repository (an unpacked release)."""
    result = subprocess.run(["git", "-C", str(ROOT), *args], capture_output=True, text=True, check=False)
    return result.stdout.splitlines() if result.returncode == 0 else []


def files(suffixes=None, folders=None):
    """Paths relative to the root of the files that belong to the project, present and sorted."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard")
    if not names:
        skip = (".git", ".venv", "build")
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")
                 if p.is_file() and p.relative_to(ROOT).parts[0] not in skip]
    return sorted(name for name in set(names)
                  if (ROOT / name).is_file()
                  and (suffixes is None or name.endswith(suffixes))
                  and (folders is None or name.split("/")[0] in folders))


def cpp_files():
    return files(CPP_SUFFIXES, CPP_FOLDERS)


def changed_cpp_files():
    """C++ files that differ from the merge base with origin/main, or from the commit before on main itself."""
    head = git("rev-parse", "HEAD")
    base = git("merge-base", "HEAD", "origin/main")
    if not base or base == head:
        base = git("rev-parse", "HEAD~1")
    changed = set(git("diff", "--name-only", *base)) | set(git("ls-files", "--others", "--exclude-standard"))
    return [name for name in cpp_files() if name in changed]


def finish(check, findings):
    """Prints findings ("file:line: message") and a closing line; returns the exit status."""
    for finding in findings:
        print(finding)
    print(f"{check}: {len(findings)} finding{'' if len(findings) == 1 else 's'}", file=sys.stderr)
    return 1 if findings else 0
