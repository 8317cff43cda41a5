package shell

import "mvdan.cc/sh/v3/syntax"

// Decides reports whether what comes after a call of the line, or the line's exit code, is another one if the call fails: it
// stands before && or is the last one.
func (l *Line) Decides(c *Call) bool {
	if l.File == nil || len(l.File.Stmts) == 0 || c.Head.Node == nil {
		return false
	}
	found := false
	var decides func(s *syntax.Stmt, last bool)
	decides = func(s *syntax.Stmt, last bool) {
		switch cmd := s.Cmd.(type) {
		case *syntax.CallExpr:
			found = found || last && len(cmd.Args) > 0 && cmd.Args[0] == c.Head.Node
		case *syntax.BinaryCmd:
			if cmd.Op == syntax.AndStmt {
				decides(cmd.X, true)
			}
			if cmd.Op != syntax.OrStmt {
				decides(cmd.Y, last)
			}
		case *syntax.Block:
			for i, s := range cmd.Stmts {
				decides(s, last && i == len(cmd.Stmts)-1)
			}
		case *syntax.Subshell:
			for i, s := range cmd.Stmts {
				decides(s, last && i == len(cmd.Stmts)-1)
			}
		}
	}
	for i, s := range l.File.Stmts {
		decides(s, i == len(l.File.Stmts)-1)
	}
	return found
}
