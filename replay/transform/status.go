package transform

import "mvdan.cc/sh/v3/syntax"

// answered returns a command with the exit code of the command before it where its first call asks for that by $?: in a
// plan that command may have been left out.
func answered(in Input) Input {
	var edits []edit
	if len(in.Line.File.Stmts) == 0 {
		return in
	}
	first := firstOf(in.Line.File.Stmts[0])
	if first == nil {
		return in
	}
	syntax.Walk(first, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ParamExp:
			if n.Param != nil && n.Param.Value == "?" && n.Exp == nil && n.Index == nil && !n.Length {
				edits = append(edits, edit{int(n.Pos().Offset()), int(n.End().Offset()), in.Status})
			}
		}
		return true
	})
	return in.edited(edits)
}

// firstOf returns what of a statement is expanded before any command has ended, nil if that is not known.
func firstOf(s *syntax.Stmt) syntax.Node {
	within := func(all []*syntax.Stmt) syntax.Node {
		if len(all) == 0 {
			return nil
		}
		return firstOf(all[0])
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.TestClause, *syntax.ArithmCmd, *syntax.DeclClause, *syntax.LetClause:
		return s
	case *syntax.CaseClause:
		return c.Word
	case *syntax.BinaryCmd:
		return firstOf(c.X)
	case *syntax.IfClause:
		return within(c.Cond)
	case *syntax.Block:
		return within(c.Stmts)
	case *syntax.Subshell:
		return within(c.Stmts)
	}
	return nil
}
