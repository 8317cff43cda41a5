package importing

import (
	"time"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/api"
)

// Into imports by fn through a backend.
func Into(term *render.Terminal, b api.Backend, fn func(im *Importer) error) (*Report, error) {
	im := &Importer{term: term, backend: b, started: time.Now(), redactor: redact.Default()}
	err := fn(im)
	return im.report(), err
}
