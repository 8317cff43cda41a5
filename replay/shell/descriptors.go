package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// descriptors notes which descriptors a statement opens or closes for those after it: exec 3<> /dev/tcp/localhost/80.
func (r *reader) descriptors(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "exec" {
		return
	}
	for _, rd := range s.Redirs {
		name := ""
		if rd.N != nil {
			name = rd.N.Value
		}
		closes := rd.Word != nil && rd.Word.Lit() == "-" && strings.HasSuffix(rd.Op.String(), "&")
		switch {
		case name <= "2", closes && !r.open[name]:
			r.line.Opens = true
		case closes:
			delete(r.open, name)
		default:
			r.open[name] = true
		}
	}
}
