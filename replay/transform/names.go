package transform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
)

// names returns where names of users, hosts, ports, branches, containers and images stand in a word. If
// the meaning of a place is unknown, the plan asks about the name.
func (e *editor) names(v string, at place) []hit {
	var out []hit
	for i := range e.m.all {
		o := &e.m.all[i]
		if o.Kind == Path || o.Kind == value || !strings.Contains(v, o.From) {
			continue
		}
		found, unsure := spans(o.Kind, v, o.From, at), v == o.From && at.index >= 0
		if o.Kind == Branch {
			found, unsure = branches(v, o.From, at)
		} else if unsure && o.Kind != User && slices.Contains(e.in.Names[o.Kind], o.From) && len(found) == 0 {
			found = []int{0}
		}
		for _, s := range found {
			out = append(out, hit{s, s + len(o.From), o.To, i})
		}
		if unsure && len(found) == 0 {
			e.out.ask(replay.AskTransform, fmt.Sprintf("%s may be the %s %s, and was not changed", v, o.Kind, o.From), "")
		}
	}
	return out
}

// spans returns where a name of a kind certainly stands in a word.
func spans(kind, v, name string, at place) []int {
	program, sub := "", ""
	if at.call != nil {
		program, sub = at.call.Name, at.call.Sub()
	}
	flag := ""
	if at.call != nil && at.index > 0 {
		flag = at.call.Args[at.index-1].Value
	}
	switch kind {
	case Host:
		return hostSpans(v, name)
	case Port:
		return portSpans(v, name, flag, program)
	case User:
		switch program {
		case "chown", "chgrp":
			if at.index == firstOperand(at.call) && (v == name || strings.HasPrefix(v, name+":") || strings.HasPrefix(v, name+".")) {
				return []int{0}
			}
		case "sudo", "su", "doas", "runuser":
			if v == name && (flag == "-u" || flag == "--user" || program != "sudo") {
				return []int{0}
			}
			if v == "--user="+name {
				return []int{7}
			}
		case "usermod", "userdel", "useradd", "passwd", "id", "groups", "crontab":
			if v == name {
				return []int{0}
			}
		}
	case Container:
		if program != "docker" && program != "podman" && program != "kubectl" && program != "docker-compose" {
			return nil
		}
		switch {
		case v == name && (flag == "--name" || flag == "--link" || flag == "--volumes-from" || containerSubs[sub]):
			return []int{0}
		case v == "--name="+name:
			return []int{7}
		case sub == "cp" && strings.HasPrefix(v, name+":"):
			return []int{0}
		}
	case Image:
		if program != "docker" && program != "podman" && program != "buildah" && program != "skopeo" {
			return nil
		}
		if flag == "--name" || flag == "-e" || flag == "-v" {
			return nil
		}
		if v == name || strings.HasPrefix(v, name+":") || strings.HasPrefix(v, name+"@") {
			return []int{0}
		}
	}
	return nil
}

var containerSubs = map[string]bool{
	"exec": true, "start": true, "stop": true, "restart": true, "rm": true, "kill": true, "logs": true, "inspect": true,
	"attach": true, "wait": true, "top": true, "stats": true, "rename": true, "update": true, "commit": true, "port": true, "pause": true, "unpause": true,
}

func firstOperand(c *shell.Call) int {
	for i, a := range c.Args {
		if !strings.HasPrefix(a.Value, "-") {
			return i
		}
	}
	return -1
}

// bounded returns where a name stands between characters of two sets, or the ends of the word.
func bounded(v, name, before, after string) (out []int) {
	for at := 0; ; {
		n := strings.Index(v[at:], name)
		if n < 0 {
			return out
		}
		from := at + n
		until := from + len(name)
		at = until
		if (from == 0 || strings.IndexByte(before, v[from-1]) >= 0) && (until == len(v) || strings.IndexByte(after, v[until]) >= 0) {
			out = append(out, from)
		}
	}
}

// hostSpans finds a host in URLs, in user@host:path and after "=".
func hostSpans(v, name string) (out []int) {
	for _, from := range bounded(v, name, "/@=,", ":/?#,") {
		switch {
		case from >= 3 && v[from-3:from] == "://", from > 0 && v[from-1] == '@', from > 0 && v[from-1] == '=' && strings.HasPrefix(v, "-"):
			out = append(out, from)
		case from == 0 && len(v) > len(name) && v[len(name)] == ':':
			out = append(out, from) // host:port, host:path
		case strings.Contains(v[:from], "://") && strings.Contains(v[:from], "@") && v[from-1] == '@':
			out = append(out, from)
		}
	}
	return out
}

// portSpans finds a port after a host, in mappings of ports and as the value of a flag.
func portSpans(v, name, flag, program string) (out []int) {
	for _, from := range bounded(v, name, ":=", ":/?#") {
		switch {
		case from > 0 && v[from-1] == ':':
			if program == "docker" || program == "podman" {
				if parts := strings.Split(v, ":"); strings.HasSuffix(v, ":"+name) && len(parts) > 1 {
					continue // the port inside the container
				}
			}
			out = append(out, from)
		case from > 0 && v[from-1] == '=' && strings.Contains(strings.ToLower(v[:from]), "port"):
			out = append(out, from)
		case from == 0 && (strings.Contains("-p --port -P --publish --listen -l", flag) && flag != "" || strings.HasPrefix(v, name+":")):
			out = append(out, from)
		}
	}
	return out
}

const redactedMark = "[redacted:"

// redacted puts variables in the place of what was redacted.
func (e *editor) redacted(pieces []shell.Piece, v, assigned string, at place) {
	for i := 0; ; {
		n := strings.Index(v[i:], redactedMark)
		if n < 0 {
			return
		}
		from := i + n
		end := strings.IndexByte(v[from:], ']')
		if end < 0 {
			return
		}
		until := from + end + 1
		i = until
		kind := v[from+len(redactedMark) : until-1]
		name := variableName(kind, assigned, v[:from], at)
		placed := false
		for _, p := range pieces {
			if from < p.At || until > p.At+len(p.Value) {
				continue
			}
			a, b, ok := p.Source(e.in.Text, from-p.At, until-p.At)
			if !ok {
				break
			}
			text := "${" + name + "}"
			switch p.Quote {
			case shell.Bare:
				text = `"` + text + `"`
			case shell.Single:
				text = `'"` + text + `"'`
			case shell.Dollar:
				text = `'"` + text + `"$'`
			}
			if p.Quote != shell.Raw {
				e.edits = append(e.edits, edit{a, b, text})
				placed = true
			}
		}
		if placed {
			e.out.ask(replay.AskRedacted, fmt.Sprintf("the %s was redacted when it was recorded: give it in the environment variable %s", kind, name), name)
		} else {
			e.out.ask(replay.AskRedacted, fmt.Sprintf("a %s in it was redacted when it was recorded, where no variable can stand: write the command again", kind), "")
		}
	}
}

// keyBefore matches the key that stands before a value: X-Token: , "token":" and, in a document, token = .
var keyBefore = regexp.MustCompile(`([A-Za-z][\w.-]*)(?:["']?[ \t]*(=)[ \t]*|["'][ \t]*(:)[ \t]*|[ \t]*(:)[ \t]+)["']?$`)

// variableName returns the name of the variable for what was redacted: by the variable that it was
// assigned to or the key that stands before it, else by the program and the kind.
func variableName(kind, assigned, before string, at place) string {
	base, key := kind, keyBefore.FindStringSubmatch(before)
	switch {
	case assigned != "":
		base = assigned
	case strings.HasSuffix(before, "=") && strings.Trim(strings.ToUpper(before), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=") == "":
		base = strings.TrimSuffix(before, "=")
	case key != nil && (at.call == nil || key[2] == ""):
		base = key[1]
	case at.call != nil && at.call.Name != "":
		base = at.call.Name + "_" + kind
	}
	var b strings.Builder
	b.WriteString("RECOUNT_")
	for _, r := range strings.ToUpper(base) {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}
