package command

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// vocabulary holds scores for the words in the names of programs, scripts and subcommands without
// an entry: "./scripts/deploy-prod.sh", "mytool serve".
var vocabulary = map[string]struct {
	category recountv1.Category
	score    int
}{
	"build": {catBuild, 3}, "compile": {catBuild, 3}, "make": {catBuild, 3}, "test": {catBuild, 3}, "tests": {catBuild, 3},
	"lint": {catBuild, 3}, "check": {catBuild, 1}, "bench": {catBuild, 2}, "benchmark": {catBuild, 2}, "bundle": {catBuild, 2},
	"package": {catBuild, 2}, "dist": {catBuild, 2}, "generate": {catBuild, 2}, "gen": {catBuild, 1}, "ci": {catBuild, 2},
	"assemble": {catBuild, 2}, "gcc": {catBuild, 2}, "format": {catBuild, 1}, "coverage": {catBuild, 2},

	"deploy": {catDeploy, 4}, "release": {catDeploy, 3}, "publish": {catDeploy, 3}, "ship": {catDeploy, 3}, "rollout": {catDeploy, 3},
	"rollback": {catDeploy, 3}, "push": {catDeploy, 2}, "upload": {catDeploy, 2}, "provision": {catDeploy, 3}, "promote": {catDeploy, 3},
	"apply": {catDeploy, 2}, "destroy": {catDeploy, 2}, "serve": {catDeploy, 1}, "up": {catDeploy, 1}, "launch": {catDeploy, 1},

	"debug": {catDebug, 3}, "trace": {catDebug, 3}, "log": {catDebug, 2}, "logs": {catDebug, 3}, "profile": {catDebug, 2},
	"inspect": {catDebug, 2}, "diagnose": {catDebug, 3}, "monitor": {catDebug, 3}, "dump": {catDebug, 1}, "health": {catDebug, 2},
	"doctor": {catDebug, 3}, "top": {catDebug, 2}, "stats": {catDebug, 2}, "events": {catDebug, 1},

	"config": {catConfigure, 3}, "configure": {catConfigure, 3}, "setup": {catConfigure, 3}, "install": {catConfigure, 3},
	"uninstall": {catConfigure, 3}, "init": {catConfigure, 2}, "enable": {catConfigure, 3}, "disable": {catConfigure, 3},
	"set": {catConfigure, 2}, "env": {catConfigure, 1}, "update": {catConfigure, 2}, "upgrade": {catConfigure, 3},
	"login": {catConfigure, 2}, "logout": {catConfigure, 2}, "auth": {catConfigure, 2}, "migrate": {catConfigure, 2},
	"bootstrap": {catConfigure, 2}, "use": {catConfigure, 1},

	"list": {catQuery, 3}, "ls": {catQuery, 2}, "show": {catQuery, 3}, "get": {catQuery, 2}, "search": {catQuery, 3},
	"find": {catQuery, 3}, "query": {catQuery, 3}, "status": {catQuery, 3}, "version": {catQuery, 3}, "help": {catQuery, 3},
	"info": {catQuery, 3}, "describe": {catQuery, 2}, "view": {catQuery, 2}, "print": {catQuery, 1}, "count": {catQuery, 2},
	"read": {catQuery, 1}, "diff": {catQuery, 2}, "history": {catQuery, 2}, "select": {catQuery, 2}, "measure": {catQuery, 2},
	"where": {catQuery, 2}, "grep": {catQuery, 2}, "decompile": {catQuery, 4}, "disassemble": {catQuery, 4},

	"goto": {catNavigate, 3}, "switch": {catNavigate, 1}, "open": {catNavigate, 1}, "cd": {catNavigate, 3},
	"location": {catNavigate, 3}, "workspace": {catNavigate, 1},

	"remove": {catOther, 3}, "delete": {catOther, 2}, "copy": {catOther, 2}, "move": {catOther, 2}, "rename": {catOther, 2},
	"clean": {catOther, 2}, "new": {catOther, 1}, "out": {catOther, 1}, "backup": {catOther, 2},
}

// sureWord is the score of a word that says by itself that a program reads.
const sureWord = 4

// order decides between categories with equal scores.
var order = [...]recountv1.Category{catDeploy, catConfigure, catBuild, catDebug, catOther, catQuery, catNavigate}

// guess scores the name of a program without an entry and its first arguments. It returns 0 if no
// word is in the vocabulary. If the name says clearly that it only reads, the first argument is what
// it reads: "decompile release" releases nothing.
func guess(name string, items []item, args []int) recountv1.Category {
	var scores [8]int
	score(&scores, name, 1)
	reads := scores[catQuery] >= sureWord
	for i, w := range args {
		it := &items[w]
		switch {
		case it.value == "--help" || it.value == "--version":
			return catQuery
		case i == 0 && !reads && isPlainWord(it):
			score(&scores, it.value, 2)
		}
	}
	best := recountv1.Category(0)
	for _, c := range order {
		if scores[c] > 1 && (best == 0 || scores[c] > scores[best]) {
			best = c
		}
	}
	return best
}

// score adds up the words of a name, which is split at non-letters and before capitals.
func score(scores *[8]int, name string, weight int) {
	start := 0
	for i := 0; i <= len(name); i++ {
		letter := i < len(name) && (name[i] >= 'a' && name[i] <= 'z' || name[i] >= 'A' && name[i] <= 'Z')
		capital := letter && name[i] <= 'Z' && i > 0 && name[i-1] >= 'a'
		if letter && !capital {
			continue
		}
		if w, ok := vocabulary[strings.ToLower(name[start:i])]; ok {
			scores[w.category] += weight * w.score
		}
		start = i
		if !letter {
			start = i + 1
		}
	}
}
