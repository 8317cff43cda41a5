package plan

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/edits"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
)

// A tool of a coding agent that changes a file is recorded as the command edit PATH or create PATH, which is no program.
// Its step writes the text, if that is known, and otherwise says that it is not.

const (
	// maxChange and maxChanges limit the texts of one change, and of all in a narrative.
	maxChange  = 256 << 10
	maxChanges = 4 << 20
)

// standsForFile reports whether a command of an agent stands for a change of a file.
func standsForFile(command string) bool {
	verb, file, ok := strings.Cut(command, " ")
	quoted := strings.HasPrefix(file, "'") && strings.HasSuffix(file, "'")
	return ok && file != "" && (verb == "edit" || verb == "create") && (quoted || !strings.ContainsAny(file, " \t\n"))
}

// fileChanges reads the texts of the changes of files that commands stand for.
func (n *Narrative) fileChanges(ctx context.Context, s commands.Sources, of []edits.Edit) error {
	found, err := edits.Find(ctx, s, of)
	if err != nil {
		return err
	}
	n.Changes, n.Unwritten = map[schemas.EventID]agenttool.Change{}, map[schemas.EventID]string{}
	all := 0
	for _, e := range of {
		c, ok := found[e.ID]
		size := len(c.Content)
		for _, p := range c.Parts {
			size += len(p.Old) + len(p.New)
		}
		switch {
		case !ok || !c.Known || !plainText(c):
			n.Unwritten[e.ID] = "was not recorded"
		case size > maxChange || all+size > maxChanges:
			n.Unwritten[e.ID] = fmt.Sprintf("is too long for a plan: %d bytes", size)
		default:
			all += size
			n.Changes[e.ID] = c
		}
	}
	return nil
}

// plainText reports whether a shell can be told the texts of a change.
func plainText(c agenttool.Change) bool {
	ok := func(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }
	for _, p := range c.Parts {
		if !ok(p.Old) || !ok(p.New) || p.Old == "" {
			return false
		}
	}
	return ok(c.Content) && ok(c.Path)
}

// changesFile takes an act that stands for a change of a file for what it does.
func (w *world) changesFile(a *act, c agenttool.Change, known bool) {
	if !known {
		c.Verb, c.Path, _ = strings.Cut(a.Command, " ")
		c.Path = strings.ReplaceAll(strings.Trim(c.Path, "'"), `'\''`, "'")
	}
	name := c.Path
	if !path.IsAbs(name) {
		name = path.Join(a.Cwd, name)
	}
	t := effects.Thing{Kind: effects.Path, Name: path.Clean(name), Access: effects.Update, Sure: 1}
	if c.Verb == "create" || known && len(c.Parts) == 0 {
		t.Access = effects.Write
	}
	a.Effects = effects.Effects{Line: a.Line, Err: a.Err, Things: []effects.Thing{t}, Known: true}
	if !known {
		return
	}
	if len(c.Parts) == 0 {
		a.Texts = map[string]string{t.Name: c.Content}
	} else if text, ok := w.text(t.Name); ok {
		if text, ok = changed(text, c.Parts); ok {
			a.Texts = map[string]string{t.Name: text}
		}
	}
}

// changed returns a text in which parts are replaced, if they are there.
func changed(text string, parts []agenttool.Part) (string, bool) {
	if parts[0].Lines {
		return changedLines(text, parts)
	}
	for _, p := range parts {
		n := 1
		if p.All {
			n = -1
		}
		if !strings.Contains(text, p.Old) {
			return "", false
		}
		text = strings.Replace(text, p.Old, p.New, n)
	}
	return text, true
}

// changedLines is changed for the parts of a patch.
func changedLines(text string, parts []agenttool.Part) (string, bool) {
	done, rest := "", "\n"+strings.TrimSuffix(text, "\n")+"\n"
	for _, p := range parts {
		old, by := whole(p)
		at := strings.Index(rest, old+"\n")
		if at < 0 {
			return "", false
		}
		done, rest = done+rest[:at]+by, rest[at+len(old):]
	}
	return (done + rest)[1:], true
}

// whole returns the lines of a part of a patch and those in their place, each with the end of the line before it.
func whole(p agenttool.Part) (old, by string) {
	if old = "\n" + strings.TrimSuffix(p.Old, "\n"); p.New != "" {
		by = "\n" + strings.TrimSuffix(p.New, "\n")
	}
	return old, by
}

// written returns a change as a line of bash that makes it, in a directory.
func written(c agenttool.Change, cwd string) string {
	_, file, _ := strings.Cut(c.Command(), " ")
	if len(c.Parts) > 0 {
		return replacing(c.Parts, file)
	}
	mkdir := ""
	if dir := path.Dir(c.Path); dir != "." && !within(cwd, dir) {
		mkdir = "mkdir -p " + said(dir) + " && "
	}
	if !strings.HasSuffix(c.Content, "\n") || strings.Contains(c.Content, "\r") {
		return mkdir + "printf %s " + said(c.Content) + " > " + file
	}
	end := "EOF"
	for strings.Contains(c.Content, end) {
		end += "_"
	}
	return mkdir + "cat > " + file + " <<'" + end + "'\n" + c.Content + end
}

// replacing returns a line of bash that replaces parts of a file. It says which of them is not there, and leaves the file as
// it is then.
func replacing(parts []agenttool.Part, file string) string {
	var b strings.Builder
	say := func(lines ...string) { b.WriteString(strings.Join(lines, "\n") + "\n") }
	missing := `[ "$p" != "$f" ] || { echo "the text to replace is not there: $1" >&2; exit 1; }`
	title := path.Base(strings.Trim(file, "'"))
	say("( # edit "+strings.ReplaceAll(title, "\n", " "), "f=$(cat < "+file+" && echo .) || exit", "f=${f%.} d= LC_ALL=C", "swap() {")
	switch {
	case parts[0].Lines:
		say(`  p=${f%%"$1"$'\n'*}`, "  "+missing, "  d=$d$p$2 f=${f:${#p}+${#1}}", "}", `f=$'\n'${f%$'\n'}$'\n'`)
	default:
		say(`  p=${f%%"$1"*}`, "  "+missing, "  d=$p$2 f=${f:${#p}+${#1}}",
			`  while [ "$3" ] && p=${f%%"$1"*} && [ "$p" != "$f" ]; do d=$d$p$2 f=${f:${#p}+${#1}}; done`, "  f=$d$f d=", "}")
	}
	for _, p := range parts {
		old, by, all := p.Old, p.New, ""
		if p.Lines {
			old, by = whole(p)
		}
		if p.All {
			all = " all"
		}
		say("swap " + said(old) + " " + said(by) + all)
	}
	if parts[0].Lines {
		say("f=$d$f", "f=${f#?}")
	}
	b.WriteString(`printf %s "$f" > ` + file + "\n)")
	return b.String()
}

// said quotes a text for a shell.
func said(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// unwritten is the question about a change whose text is not known.
func unwritten(command, why string) replay.Ask {
	return replay.Ask{Kind: replay.AskUnwritten, Text: fmt.Sprintf("the text of this change (%s) %s: write it yourself, and go on --without this step", replay.Brief(command), why)}
}
