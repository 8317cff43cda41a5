package evidence

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// plan lists the paths that a question takes, in order, and those that it does not take, with
// reasons.
type plan struct {
	refs  refs
	cues  cues
	paths []planned
	// kinds are the kinds of things that may be in the answer.
	kinds []string
}

// planned is a path that was considered.
type planned struct {
	path   string
	chosen bool
	why    string
}

func (p *plan) takes(path string) bool {
	return slices.ContainsFunc(p.paths, func(x planned) bool { return x.path == path && x.chosen })
}

func (p *plan) answers(kind string) bool { return slices.Contains(p.kinds, kind) }

// has describes what is available to a plan.
type has struct {
	dense bool // an embedder, and an embedding of the text
	wide  bool // things of other kinds, and a principal who may see them
	hops  int
}

// planOf plans a question. It considers only the text and the request, so that the plan reveals
// nothing about the data.
func planOf(r *Request, names refs, c cues, h has, w *Weights) plan {
	p := plan{refs: names, cues: c}
	add := func(path string, chosen bool, yes, no string) {
		if chosen && w.weightOf(path) == 0 {
			chosen, no = false, "its weight is 0"
		}
		why := yes
		if !chosen {
			why = no
		}
		p.paths = append(p.paths, planned{path, chosen, why})
	}
	words := names.words != ""
	ids := len(p.refs.ids) + len(p.refs.positions)
	add(pathID, ids > 0, "the text has "+count(ids, "id"), "the text has no id of an event or an object")
	add(pathEntity, len(p.refs.entities) > 0, "the text names "+strings.Join(p.refs.entities, " "), "the text names no file, commit, issue, trace or tool")
	add(pathLexical, words, "the text has words", "there is no text")
	add(pathDense, words && h.dense, "the embedder knows the text", "there is no text, no embedder, or the embedder knows nothing of the text")
	switch {
	case r.Text == "":
		add(pathTemporal, true, "there is no text: the newest", "")
	case c.newest != "":
		add(pathTemporal, true, "the text asks for new objects: "+c.newest, "")
	case c.from != 0:
		add(pathTemporal, true, "the text names a time, "+c.fromWord+": since "+time.Unix(0, c.from).UTC().Format(time.RFC3339), "")
	default:
		add(pathTemporal, false, "", "the text names no time")
	}
	add(pathGraph, words && h.hops > 0, "adds the objects joined by edges to the best hits of the other paths", "no expansion was requested, or there is no text")
	add(pathReason, c.why != "" && h.hops > 0, "the text asks for a reason, "+c.why+": failures and insights after the best hits", "the text does not ask for a reason")
	add(pathRemedy, c.remedy != "" && h.hops > 0, "the text asks for a remedy, "+c.remedy+": changes after the best hits", "the text does not ask for a remedy")

	p.kinds = r.Kinds
	switch {
	case len(p.kinds) > 0:
	case c.failing != "" && h.wide && len(r.Types)+len(r.Memory)+len(r.Events) == 0:
		p.kinds = []string{KindObjects, KindCommands, KindRuntime}
	default:
		p.kinds = []string{KindObjects}
	}
	return p
}

// why returns the reason for a path.
func (p *plan) why(path string) string {
	for _, x := range p.paths {
		if x.path == path {
			return x.why
		}
	}
	return ""
}

// steps returns the plan as steps of the proof: the paths that are omitted, with reasons, and the
// kinds of things that may be in the answer. The paths that are taken have steps of their own.
func (p *plan) steps(r *Request) []Step {
	out := Step{Operator: "leave out", Inputs: map[string]string{}}
	var order []string
	for _, x := range p.paths {
		if x.chosen {
			order = append(order, x.path)
		} else {
			out.Inputs[x.path] = x.why
		}
	}
	all := []Step{{Operator: "plan", Inputs: map[string]string{"paths": strings.Join(order, " "), "kinds": strings.Join(p.kinds, " ")}}}
	switch {
	case len(r.Kinds) > 0:
		all[0].Why = "the request asks for these kinds"
	case len(p.kinds) > 1:
		all[0].Why = "the text asks why something fails: " + p.cues.failing
	}
	if len(out.Inputs) > 0 {
		all = append(all, out)
	}
	return all
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
