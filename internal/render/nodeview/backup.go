package nodeview

import (
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
)

// Backup prints the size of a backup, and how much of it was copied.
func Backup(t *render.Terminal, r api.BackupReport) {
	t.Printf("%s: %s, %s copied, in %s\n", render.OneLine(r.Dir), render.Count(int(r.Bytes), "byte"), render.Thousands(r.Copied), query.Took(time.Duration(r.ElapsedMS)*time.Millisecond))
}
