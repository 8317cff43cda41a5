package rust

import (
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// documentedPath matches #[utoipa::path(get, path = "/pets/{id}", …)], and the method in it.
var (
	documentedPath   = regexp.MustCompile(`^#\[\s*utoipa::path\s*\(`)
	documentedMethod = regexp.MustCompile(`[(,]\s*(get|post|put|delete|patch|head|options|trace)\s*[,)]`)
	documentedText   = regexp.MustCompile(`[(,]\s*path\s*=\s*"([^"]*)"`)
)

// documentedRoutes reads the attribute by which utoipa documents a handler. It is served where routes!(handler) is.
func (r *walker) documentedRoutes(n extract.Ref, in uint32, name string) {
	for _, a := range r.attributes(n) {
		text := r.Text(a)
		if !documentedPath.MatchString(text) {
			continue
		}
		method, path := documentedMethod.FindStringSubmatch(text), documentedText.FindStringSubmatch(text)
		if method != nil && path != nil {
			r.AddRoute(&recountv1.RouteFact{Role: "documented", Method: strings.ToUpper(method[1]), Pattern: path[1], Router: name, Framework: "axum", In: in}, a)
		}
	}
}
