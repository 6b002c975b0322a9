//go:build unix

package main

import (
	"fmt"
	"path"
	"strings"
)

// pythonHead begins every program for Python, and pythonTail ends it.
const (
	pythonHead = `import glob, os, sys
faults = []


def fault(*words):
    print("ERROR:", *words)
    faults.append(1)


def see(name, text):
    for c in ',:"{}[]':
        text = text.replace(c, " ")
    for word in text.split():
        if "BAD" in word:
            fault(name, "sees", word)


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def run(*words):
    import subprocess
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except OSError:
        return "BADstart"


def ask(query):
    import json, socket
    host, path = os.environ["GRAPHQL_SERVER"].split("//")[1].split("/", 1)
    body = json.dumps({"query": query})
    head = "POST /%s HTTP/1.0\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (path, host, len(body))
    with socket.create_connection(host.split(":"), 20) as s, s.makefile("rwb") as f:
        f.write((head + body).encode())
        f.flush()
        answer = f.read().decode().split("\r\n\r\n", 1)
    return answer[1] if " 200 " in answer[0] else "BADserver"


`
	pythonTail = "sys.exit(1 if faults else 0)\n"
)

// python returns the text of a program for Python.
func (p program) python() string {
	var b strings.Builder
	b.WriteString(pythonHead)
	for _, step := range p.Blocks {
		b.WriteString(step.python())
	}
	b.WriteString(pythonTail)
	return b.String()
}

// python returns the lines of a block.
func (b block) python() string {
	id, at := b.ID, b.Path
	dir, name := path.Split(at)
	two := b.Way%2 == 1
	switch b.Kind {
	case opens, built:
		if b.Way == 2 {
			return fmt.Sprintf("if not os.path.exists(%q):\n    fault(%q, \"misses\", %q)\nsee(%q, read(%q))\n", at, id, at, id,
				at)
		}
		return fmt.Sprintf("see(%q, read(%q))\n", id, at)
	case absolute:
		if two {
			return fmt.Sprintf("see(%q, read(os.path.join(os.environ.get(\"CI_PROJECT_DIR\") or os.getcwd(), %q)))\n", id, at)
		}
		return fmt.Sprintf("see(%q, read(os.path.join(os.getcwd(), %q)))\n", id, at)
	case moves:
		return fmt.Sprintf(
			"here = os.getcwd()\nif os.path.isdir(%q):\n    os.chdir(%q)\n    see(%q, read(%q))\nos.chdir(here)\n", dir, dir, id,
			name)
	case imports:
		return fmt.Sprintf("import shared\nsee(%q, shared.MARK)\n", id)
	case lists:
		list := []string{"os.listdir(%q)", "[n for _, _, names in os.walk(%q) for n in names]",
			"glob.glob(os.path.join(%q, \"*\"))", "[e.name for e in os.scandir(%q)]"}[b.Way]
		return fmt.Sprintf("names = sorted("+list+
			")\nsee(%q, \" \".join(names))\nif len(names) > %d:\n    fault(%q, \"counts many\")\n", at, id, b.Limit, id)
	case exists:
		if b.Way == 3 {
			return fmt.Sprintf("if not os.path.exists(%q):\n    fault(%q, \"misses\", %q)\n", at, id, at)
		}
		return fmt.Sprintf("if os.path.exists(%q):\n    fault(%q, \"finds\", %q)\n", at, id, at)
	case executes:
		if two {
			return fmt.Sprintf("see(%q, run(%q))\n", id, "./"+at)
		}
		return fmt.Sprintf("see(%q, run(\"sh\", %q))\n", id, at)
	case follows:
		if b.Way == 0 {
			return fmt.Sprintf("if os.path.islink(%q):\n    see(%q, os.readlink(%q))\nif not os.path.exists(%q):\n    "+
				"fault(%q, \"misses target\")\n", at, id, at, at, id)
		}
		return fmt.Sprintf("see(%q, read(%q))\n", id, at)
	case asks:
		return fmt.Sprintf("see(%q, ask(%q))\n", id, b.question())
	}
	return b.pythonRare()
}

// pythonRare returns the lines of the kinds that remain.
func (b block) pythonRare() string {
	id, at := b.ID, b.Path
	two := b.Way%2 == 1
	switch b.Kind {
	case writes:
		text := fmt.Sprintf("os.makedirs(\"work\", exist_ok=True)\nwith open(%q, \"w\") as f:\n    "+
			"f.write(\"goodself\")\nif read(%q) != \"goodself\":\n    fault(%q, \"reads other\")\n", at, at, id)
		if two {
			text += fmt.Sprintf("os.remove(%q)\n", at)
		}
		return text
	case stats:
		if two {
			return fmt.Sprintf("if os.access(%q, os.X_OK):\n    fault(%q, \"finds executable\")\n", at, id)
		}
		return fmt.Sprintf("if os.path.exists(%q) and os.path.getsize(%q) > %d:\n    fault(%q, \"finds large\")\n", at, at,
			b.Limit, id)
	case git:
		return [...]string{
			fmt.Sprintf("if not run(\"git\", \"rev-parse\", \"HEAD\"):\n    fault(%q, \"misses HEAD\")\nsee(%q, run(\"git\", "+
				"\"show\", \"HEAD:%s\"))\n", id, id, at),
			fmt.Sprintf("if os.path.exists(%q) and not run(\"git\", \"ls-files\", %q):\n    fault(%q, \"finds untracked\")\n",
				at, at, id),
			fmt.Sprintf("see(%q, run(\"git\", \"show\", \"HEAD:%s\"))\n", id, at),
			fmt.Sprintf("if run(\"git\", \"diff\", \"--name-only\", \"--\", %q):\n    fault(%q, \"finds difference\")\n", at,
				id),
		}[b.Way]
	}
	return ""
}
