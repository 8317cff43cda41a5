package languages

import (
	"slices"

	"github.com/recountdb/recount/languages/registry"
)

// All returns every registered language.
func All() []registry.Language { return slices.Clone(registered) }
