package command

import (
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// understand fills in what follows from the text of the command, and reports whether the result
// depends on the directory in which the command ran.
func understand(in *recountv1.Intent, home string) (placed bool) {
	l, parsed := takeApart(in)
	r := reader{line: l, where: locate(in.Cwd, in.User, home)}
	r.all()
	in.Tokens = l.tokens()
	in.Template = l.template()
	if in.Template == "" {
		in.Template = schemas.Clip(Fold(in.Command), maxTemplate)
	}
	in.Programs = r.programs
	in.Resources = r.resources
	in.Complexity = uint32(max(1, l.complexity))
	category, sure := r.categorise()
	in.Category = category
	in.Confidence = r.confidence(parsed, sure)
	return r.placed
}

// takeApart splits the command line, and reports whether the grammar of its shell was used.
func takeApart(in *recountv1.Intent) (l *line, parsed bool) {
	if l, parsed = parse(in.Command, in.Shell); !parsed {
		l = scan(in.Command, in.Shell)
	}
	return l, parsed
}

// confidence returns the confidence of the interpretation, based on the syntax, the known programs
// and the category.
func (r *reader) confidence(parsed bool, category float32) float32 {
	c := float32(1)
	if !parsed {
		c = 0.5
	}
	if r.ran > 0 {
		c = float32(c * float32(0.7+float32(0.3*float32(float32(r.known)/float32(r.ran)))))
	} else {
		c = float32(c * 0.7)
	}
	return float32(c * float32(0.5+float32(0.5*category)))
}
