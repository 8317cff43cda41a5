package sql

import (
	"testing"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolvetest"
)

// factsOf returns the facts of files.
var factsOf = extract.Facts(Language.Files...)

const files = `
-- db/001.sql --
CREATE TABLE users (id int PRIMARY KEY);
CREATE TABLE shop.orders (id int, user_id int REFERENCES Users(id));
-- db/002.sql --
ALTER TABLE users ADD COLUMN age int;
CREATE VIEW old AS SELECT * FROM users JOIN audit.orders ON true;
CREATE TABLE IF NOT EXISTS users (id int);
-- other/x.sql --
SELECT * FROM orders, gone;
-- third/x.sql --
CREATE TABLE users (id int);
`

func TestEdges(t *testing.T) {
	resolvetest.Edges(t, NewResolver(), factsOf, files, `
contains db/001.sql -> db/001.sql:orders @2:0
contains db/001.sql -> db/001.sql:users @1:0
contains db/001.sql:orders -> db/001.sql:orders.id @2:26
contains db/001.sql:orders -> db/001.sql:orders.user_id @2:34
references db/001.sql:orders.user_id -> db/001.sql:users @2:57
contains db/001.sql:users -> db/001.sql:users.id @1:20
contains db/002.sql -> db/002.sql:old @2:0
contains db/002.sql -> db/002.sql:users @3:0
contains db/002.sql -> db/002.sql:users.age @1:29
references db/002.sql -> db/002.sql:users @1:12
depends_on db/002.sql:old -> db/002.sql:users @2:33
contains db/002.sql:users -> db/002.sql:users.age @1:29
contains db/002.sql:users -> db/002.sql:users.id @3:34
depends_on db/002.sql:old -> orders @2:44 (unresolved)
references other/x.sql -> db/001.sql:orders @1:14 (name_matched 500)
references other/x.sql -> gone @1:22 (unresolved)
contains third/x.sql -> third/x.sql:users @1:0
contains third/x.sql:users -> third/x.sql:users.id @1:20
`, "references", "depends_on", "contains")
}

func TestCommitByCommit(t *testing.T) {
	first := resolvetest.Archive(t, files, factsOf)
	second := first.With(map[string]string{"db/001.sql": "CREATE TABLE gone (x int);"})
	resolvetest.Series(t, NewResolver, first, second, second.With(nil, "third/x.sql"), first)
}
