package code

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages"
	snapshots "github.com/recountdb/recount/projections/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// unreadFile reports why a file of a snapshot has no symbols, "" if it has been read or is not code.
func unreadFile(path string, f *recountv1.CodeFile) string {
	if name := languages.Unread(path); name != "" {
		return name + " is not read"
	}
	if f.GetLanguage() != "" && f.GetSkipped() != "" {
		return f.Skipped
	}
	return ""
}

// unreadFiles describes the code of a snapshot that has no symbols: "14 Ruby files and 1 C file are
// not read". It returns "" if there is none.
func unreadFiles(s *snapshots.Snapshot) (string, error) {
	files, err := s.Files()
	if err != nil {
		return "", err
	}
	byName, large := map[string]int{}, 0
	f := &recountv1.CodeFile{}
	for e, err := range files.All() {
		if err != nil {
			return "", err
		}
		if name := languages.Unread(string(e.Key)); name != "" {
			byName[name]++
			continue
		}
		if err := unmarshal(e.Value, f); err != nil {
			return "", err
		}
		if f.Language != "" && (strings.HasPrefix(f.Skipped, "large") || strings.HasPrefix(f.Skipped, "oversized")) {
			large++
		}
	}
	var parts []string
	names := slices.SortedFunc(maps.Keys(byName), func(a, b string) int { return cmp.Or(cmp.Compare(byName[b], byName[a]), cmp.Compare(a, b)) })
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d %s", byName[name], name))
	}
	said := ""
	if len(parts) > 0 {
		said = "not read: " + strings.Join(parts, ", ") + " files"
		if len(names) == 1 && byName[names[0]] == 1 {
			said = "not read: 1 " + names[0] + " file"
		}
	}
	if large > 0 {
		said = joinHints(said, fmt.Sprintf("%d above the size limit", large))
	}
	return said, nil
}

// unresolvedHint returns why what a file declares has no edges, "" if it may have some.
func (w *world) unresolvedHint(r ref) string {
	path := w.graphs[r.g].keys[r.n].Path()
	if why := languages.Unresolved(path); why != "" {
		return fmt.Sprintf("edges of %s are not known: %s", path, why)
	}
	return ""
}

// unreadHint returns why a file has no symbols, or for anything else "".
func (a *session) unreadHint(w *world, r ref) (string, error) {
	g := w.graphs[r.g]
	if g.kind(r.n) != recountv1.SymbolKind_SYMBOL_KIND_FILE {
		return "", nil
	}
	files, err := w.snaps[r.g].Files()
	if err != nil {
		return "", err
	}
	path := g.keys[r.n].Path()
	value, ok, err := files.Get([]byte(path))
	if err != nil || !ok {
		return "", err
	}
	f := &recountv1.CodeFile{}
	if err := unmarshal(value, f); err != nil {
		return "", err
	}
	if why := unreadFile(path, f); why != "" {
		return fmt.Sprintf("%s has no symbols and no edges here: %s", path, why), nil
	}
	return "", nil
}

func joinHints(hints ...string) string {
	return strings.Join(slices.DeleteFunc(hints, func(h string) bool { return h == "" }), "; ")
}
