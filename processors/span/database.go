package span

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// database recognises a query: "SELECT shop.carts". Verb and table come from their attributes, else
// from the statement, else from the span's name.
func database(u *interpretation) bool {
	if !u.a.has(dbSystem, dbStatement, dbSummary, dbOperation) {
		return false
	}
	return u.set(recountv1.RuntimeKind_RUNTIME_KIND_QUERIES, u.a.text(dbSystem), u.query())
}

func (u *interpretation) query() string {
	verb, table := u.a.text(dbOperation), u.a.text(dbCollection)
	if table == "" && u.a.has(dbSummary) {
		return u.a.text(dbSummary)
	}
	if verb == "" || table == "" {
		v, t := statement(u.a.text(dbStatement))
		if verb == "" {
			verb = v
		}
		if table == "" {
			table = t
		}
	}
	switch {
	case table != "" && verb == "":
		return anyMethod + " " + u.qualified(table)
	case table != "":
		return verb + " " + u.qualified(table)
	case verb != "":
		return verb
	}
	return withoutValues(u.name)
}

// qualified returns the table with its database, "shop.carts". The parts of a namespace
// ("shop|public") are joined by dots.
func (u *interpretation) qualified(table string) string {
	ns := u.a.text(dbNamespace)
	if ns == "" || strings.Contains(table, ".") {
		return table
	}
	return strings.ReplaceAll(ns, "|", ".") + "." + table
}

// queryVerbs are the first words of span names that are queries: "SELECT shop.carts".
var queryVerbs = map[string]bool{"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "REPLACE": true}

func isQueryName(name string) bool {
	verb, table, ok := strings.Cut(name, " ")
	if !ok || !queryVerbs[verb] {
		return false
	}
	for part := range strings.SplitSeq(table, ".") {
		if !isIdentifier(part) {
			return false
		}
	}
	return true
}
