package span

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// database reads a query: "SELECT shop.carts", by the attributes that name verb and
// table, else by the statement, else by what the span calls itself.
func database(u *understood) bool {
	if !u.a.has(dbSystem, dbStatement, dbSummary, dbOperation) {
		return false
	}
	return u.is(recountv1.RuntimeKind_RUNTIME_KIND_QUERIES, u.a.text(dbSystem), u.query())
}

func (u *understood) query() string {
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

// qualified is the table in its database, "shop.carts"; a namespace of several parts
// ("shop|public") has dots between them.
func (u *understood) qualified(table string) string {
	ns := u.a.text(dbNamespace)
	if ns == "" || strings.Contains(table, ".") {
		return table
	}
	return strings.ReplaceAll(ns, "|", ".") + "." + table
}

// queryVerbs begin the names of spans that are queries: "SELECT shop.carts".
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
