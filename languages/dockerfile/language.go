package dockerfile

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
)

// Language is Dockerfiles: what the files say is in extract.go. The resolver of
// languages/yaml takes them too: it joins images to what builds them.
var Language = registry.Language{
	Files: []extract.Language{extractor},
}
