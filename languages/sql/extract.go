// Package sql extracts facts from SQL and resolves its names: tables, columns, views and functions,
// and what uses them.
package sql

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads SQL of any dialect as tokens: what CREATE and ALTER statements declare, and the
// tables that they and queries name. A grammar of one dialect would fail on the others, but the
// keywords around a name mean the same in all.
//
// A column's container is its table; a column that ALTER TABLE adds has the table's name as its
// owner. Names are as written, without quotes; the schema is an attribute.
var extractor = extract.Language{Name: "sql", Version: 1, Matches: extract.Suffixed(".sql", ".ddl"), Extract: extractSQL}

type sqlFile struct {
	*extract.Builder
	tokens   []sqlToken
	at       int
	comments map[uint32]string // by the offset of the token that follows
}

func extractSQL(content []byte, facts *recountv1.FileFacts) {
	if len(content) > extract.MaxParsed {
		facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), extract.MaxParsed)
		return
	}
	src, bad := extract.ValidText(content)
	facts.Generated = extract.IsGenerated(src)
	s := &sqlFile{Builder: extract.NewBuilder(facts, src), comments: map[uint32]string{}}
	if bad >= 0 {
		extract.Partial(facts, s.Place(uint32(bad)), "a byte that is not UTF-8 text")
	}
	s.scan(src)
	for s.at < len(s.tokens) {
		begin := s.at
		s.statement()
		s.at = max(s.at, begin+1)
	}
	s.Sort()
}

// statement reads one statement, up to its semicolon.
func (s *sqlFile) statement() {
	first := s.at
	if !s.word("CREATE") {
		if s.word("ALTER", "TABLE") {
			s.alterTable()
		}
		s.rest(first, 0, recountv1.EdgeKind_EDGE_KIND_REFERENCES, false)
		return
	}
	for range 24 {
		t := s.peek(0)
		if t.kind == 0 || t.kind == ';' || t.kind == '(' {
			break
		}
		s.at++
		switch t.upper {
		case "TABLE":
			s.createTable(first)
			return
		case "VIEW":
			s.declared(first, recountv1.SymbolKind_SYMBOL_KIND_VIEW, false)
			return
		case "INDEX":
			s.createIndex(first)
			return
		case "FUNCTION", "PROCEDURE", "PROC":
			s.declared(first, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, true)
			return
		case "TRIGGER":
			s.declared(first, recountv1.SymbolKind_SYMBOL_KIND_TRIGGER, true)
			return
		case "TYPE":
			s.declared(first, recountv1.SymbolKind_SYMBOL_KIND_TYPE, false)
			return
		}
	}
	s.rest(first, 0, recountv1.EdgeKind_EDGE_KIND_REFERENCES, false)
}

// declareFrom declares what the statement that begins at token first creates. finish sets its end.
func (s *sqlFile) declareFrom(first int, kind recountv1.SymbolKind, name, schema string) (uint32, *recountv1.Declaration) {
	last := max(s.at-1, first)
	start := s.tokens[first].start
	in, decl := s.Declare(extract.Declaration{Kind: kind, Name: name, Start: start, End: s.tokens[last].end, Doc: s.comments[start]})
	decl.Exported = true
	if schema != "" {
		decl.Attributes = map[string]string{"schema": extract.Clip(extract.OneLine(schema), extract.MaxValue)}
	}
	return in, decl
}

// finish sets the end of a declaration that has been read.
func (s *sqlFile) finish(first int, decl *recountv1.Declaration) {
	start, end := s.tokens[first].start, s.tokens[max(min(s.at, len(s.tokens))-1, first)].end
	decl.End = s.Place(end)
	decl.BodyHash = extract.BodyHash(s.Content[start:end], false, 0)
}

// declared declares a view, a routine, a trigger or a type, with references to the tables that it
// names.
func (s *sqlFile) declared(first int, kind recountv1.SymbolKind, routine bool) {
	s.ifExists()
	schema, name, _, ok := s.name()
	if !ok {
		s.rest(first, 0, recountv1.EdgeKind_EDGE_KIND_REFERENCES, routine)
		return
	}
	in, decl := s.declareFrom(first, kind, name, schema)
	s.rest(first, in, extract.DependsOn, routine)
	s.finish(first, decl)
}

func (s *sqlFile) ifExists() {
	_ = s.word("CONCURRENTLY")
	if !s.word("IF", "NOT", "EXISTS") {
		s.word("IF", "EXISTS")
	}
	s.word("ONLY")
}

func (s *sqlFile) createIndex(first int) {
	s.ifExists()
	schema, name := "", "?"
	if s.peek(0).upper != "ON" {
		schema, name, _, _ = s.name()
	}
	in, decl := s.declareFrom(first, recountv1.SymbolKind_SYMBOL_KIND_INDEX, name, schema)
	if s.word("ON") {
		s.word("ONLY")
		s.table(in, extract.DependsOn)
	}
	s.rest(first, in, extract.DependsOn, false)
	s.finish(first, decl)
}

// table adds a reference to the table whose name comes next.
func (s *sqlFile) table(in uint32, edge recountv1.EdgeKind) string {
	schema, name, at, ok := s.name()
	if !ok {
		return ""
	}
	r := s.Refer(edge, in, extract.Checked(extract.OneLine(name)), at.start)
	if schema != "" {
		r.Attributes = map[string]string{"schema": extract.Clip(extract.OneLine(schema), extract.MaxValue)}
	}
	return name
}

func (s *sqlFile) createTable(first int) {
	s.ifExists()
	schema, name, _, ok := s.name()
	if !ok {
		s.rest(first, 0, recountv1.EdgeKind_EDGE_KIND_REFERENCES, false)
		return
	}
	in, decl := s.declareFrom(first, recountv1.SymbolKind_SYMBOL_KIND_TABLE, name, schema)
	if s.peek(0).kind == '(' && s.peek(1).upper != "SELECT" && s.peek(1).upper != "WITH" {
		s.at++
		s.columns(in)
	}
	s.rest(first, in, extract.DependsOn, false)
	s.finish(first, decl)
}

// columns reads the list in parentheses of CREATE TABLE.
func (s *sqlFile) columns(table uint32) {
	for {
		t := s.peek(0)
		if t.kind == 0 || t.kind == ';' {
			return
		}
		if t.kind == ')' {
			s.at++
			return
		}
		in := table
		switch t.upper {
		case "CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "KEY", "INDEX", "EXCLUDE", "FULLTEXT", "SPATIAL", "LIKE", "PERIOD", "PARTITION":
			if t.kind == 'w' && !(s.peek(1).kind == 'w' && isColumnType(s.peek(1).upper)) {
				break
			}
			in = s.column(table, "")
		default:
			in = s.column(table, "")
		}
		s.constraints(in)
		if s.peek(0).kind == ',' {
			s.at++
		}
	}
}

// isColumnType reports whether a word is a type, and the word before it therefore the name of a
// column, such as key or index, and not a constraint.
func isColumnType(word string) bool {
	switch word {
	case "TEXT", "INT", "INTEGER", "BIGINT", "VARCHAR", "CHAR", "UUID", "BYTEA", "BLOB", "JSON", "JSONB", "BOOLEAN", "TIMESTAMP", "DATE", "NUMERIC", "SMALLINT":
		return true
	}
	return false
}

// column declares the column whose name comes next. owner is the name of the table if another
// statement declares it, and "" otherwise.
func (s *sqlFile) column(table uint32, owner string) uint32 {
	t := s.peek(0)
	if t.kind != 'w' && t.kind != 'q' || t.text == "" {
		s.at++
		return table
	}
	s.at++
	end, depth := s.at, 0
	var typ []string
	for i := 0; end < len(s.tokens); i, end = i+1, end+1 {
		n := s.tokens[end]
		if n.kind == '(' {
			depth++
		} else if n.kind == ')' {
			depth--
		}
		if depth < 0 || n.kind == ';' || n.kind == ',' && depth == 0 {
			break
		}
		if i == 0 && n.kind == 'w' {
			typ = append(typ, n.text)
		}
	}
	in, decl := s.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_COLUMN, Name: t.text, In: table, Doc: s.comments[t.start],
		Start: t.start, End: s.tokens[max(end-1, s.at-1)].end,
	})
	decl.Exported, decl.OwnerPath = true, extract.Clip(extract.OneLine(owner), extract.MaxName)
	decl.Type = strings.Join(typ, "")
	return in
}

// constraints reads up to a comma or the end of the list, and adds references to the tables of
// foreign keys.
func (s *sqlFile) constraints(in uint32) {
	depth := 0
	for {
		t := s.peek(0)
		switch {
		case t.kind == 0 || t.kind == ';' || depth == 0 && (t.kind == ',' || t.kind == ')'):
			return
		case t.kind == '(':
			depth++
		case t.kind == ')':
			depth--
		case t.upper == "REFERENCES":
			s.at++
			s.table(in, recountv1.EdgeKind_EDGE_KIND_REFERENCES)
			continue
		}
		s.at++
	}
}

// alterTable reads what ALTER TABLE adds to a table.
func (s *sqlFile) alterTable() {
	s.ifExists()
	mark := s.at
	_, table, _, ok := s.name()
	if !ok {
		return
	}
	s.at = mark
	s.table(0, recountv1.EdgeKind_EDGE_KIND_REFERENCES)
	for {
		t := s.peek(0)
		if t.kind == 0 || t.kind == ';' {
			return
		}
		if t.upper != "ADD" {
			s.at++
			continue
		}
		s.at++
		explicit := s.word("COLUMN")
		s.ifExists()
		in := uint32(0)
		switch s.peek(0).upper {
		case "CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "PARTITION", "VALUE":
			if explicit {
				in = s.column(0, table)
			}
		case "":
			if s.peek(0).kind == 'q' {
				in = s.column(0, table)
			}
		default:
			in = s.column(0, table)
		}
		s.constraints(in)
	}
}

// rest reads to the end of the statement that began at token first, and adds references to the
// tables that it names: after FROM, JOIN, INTO, UPDATE, and the ON of a trigger.
func (s *sqlFile) rest(first int, in uint32, edge recountv1.EdgeKind, routine bool) {
	s.at = max(s.at, first+1)
	r := statement{sqlFile: s, in: in, edge: edge, routine: routine, local: map[string]bool{}, from: -1}
	switch begin := s.tokens[first]; {
	case begin.upper == "WITH":
		s.at = first
	case !routine && in == 0 && (begin.upper == "UPDATE" || begin.upper == "TRUNCATE"):
		s.word("TABLE")
		s.word("ONLY")
		s.table(in, edge)
	}
	for {
		t, before := s.peek(0), s.peek(-1)
		if t.kind == 0 {
			return
		}
		s.at++
		switch {
		case t.kind == ';' && r.begins <= 0 && !r.body:
			return
		case t.kind != 'w':
			r.mark(t, before)
		case before.kind != '.' && (s.peek(0).kind != '.' || t.upper == "FROM"):
			r.keyword(t, before)
		}
	}
}

// statement is what is known of a statement up to a token.
type statement struct {
	*sqlFile
	in      uint32
	edge    recountv1.EdgeKind
	routine bool
	body    bool            // in the dollar quotes of a routine
	begins  int             // how many blocks of a routine are open
	local   map[string]bool // the names that WITH defines
	calls   []string        // the words before the open parentheses
	from    int             // how many parentheses were open at the FROM whose tables follow, -1 if none do
}

// mark reads a token that is no word.
func (r *statement) mark(t, before sqlToken) {
	switch t.kind {
	case '$':
		if r.body = !r.body; !r.body {
			r.begins = 0
		}
	case ';':
		r.from = -1
	case '(':
		r.calls = append(r.calls, before.upper)
	case ')':
		if len(r.calls) > 0 {
			r.calls = r.calls[:len(r.calls)-1]
		}
		if r.from > len(r.calls) {
			r.from = -1
		}
	case ',':
		if r.from == len(r.calls) {
			r.named()
		}
	}
}

// keyword reads a word.
func (r *statement) keyword(t, before sqlToken) {
	switch t.upper {
	case "BEGIN", "CASE":
		if r.routine {
			r.begins++
		}
	case "END":
		if r.routine {
			switch r.peek(0).upper {
			case "IF", "LOOP", "WHILE", "REPEAT", "FOR":
			default:
				r.begins--
			}
		}
	case "AS":
		if r.peek(0).kind == '(' && (before.kind == 'w' || before.kind == 'q') {
			r.local[strings.ToLower(before.text)] = true
		}
	case "FROM", "JOIN":
		if len(r.calls) > 0 {
			switch r.calls[len(r.calls)-1] {
			case "EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION":
				return
			}
		}
		if before.upper == "DISTINCT" && t.upper == "FROM" && r.peek(-3).upper == "IS" {
			return
		}
		r.from = len(r.calls)
		r.named()
	case "INTO":
		if prev := before.upper; prev == "INSERT" || prev == "MERGE" || prev == "REPLACE" || prev == "IGNORE" {
			r.named()
		}
		r.from = -1
	case "UPDATE":
		if r.routine && (before.kind == ';' || before.upper == "BEGIN" || before.upper == "THEN" || before.upper == "DO") {
			r.named()
		}
	case "ON":
		if r.in > 0 && r.Decl(r.in).Kind == recountv1.SymbolKind_SYMBOL_KIND_TRIGGER && r.begins == 0 && len(r.calls) == 0 && !r.referred(r.in) {
			r.named()
		}
		r.from = -1
	case "FUNCTION", "PROCEDURE":
		if before.upper == "EXECUTE" {
			r.table(r.in, r.edge)
		}
	case "REFERENCES":
		if r.edge == recountv1.EdgeKind_EDGE_KIND_REFERENCES || before.kind == ')' {
			r.table(r.in, recountv1.EdgeKind_EDGE_KIND_REFERENCES)
		}
	case "WHERE", "SET", "GROUP", "ORDER", "VALUES", "SELECT", "LIMIT", "HAVING", "USING", "WHEN":
		r.from = -1
	}
}

// referred reports whether the last reference is a declaration's.
func (s *sqlFile) referred(in uint32) bool {
	n := len(s.Facts.References)
	return n > 0 && s.Facts.References[n-1].In == in
}

// named adds a reference to the table that comes next, unless it is a query or a local name.
func (r *statement) named() {
	r.word("ONLY")
	r.word("LATERAL")
	t := r.peek(0)
	if t.kind != 'w' && t.kind != 'q' {
		return
	}
	switch t.upper {
	case "SELECT", "UNNEST", "VALUES", "TABLE", "GENERATE_SERIES", "DUAL", "OLD", "NEW":
		return
	}
	if r.local[strings.ToLower(t.text)] && r.peek(1).kind != '.' {
		return
	}
	r.table(r.in, r.edge)
}
