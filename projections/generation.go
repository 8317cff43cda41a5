package projections

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// On disk a projection is a folder of generations:
//
//	<dir>/LOCK                     held while a Set has the directory open
//	<dir>/<name>/CURRENT           the live generation's folder: "gen-000003\n"
//	<dir>/<name>/gen-000003/       what the projection stores
//	<dir>/<name>/gen-000003/VERSION  the kind that wrote it: "segment 1\n", with
//	                                 its settings if it has any: "vector 1 m=16\n"
//	<dir>/<name>/gen-000003/LOG      the log that it was built from (origin.go)
//
// A generation becomes live with the rename that puts its name into CURRENT. Any other generation
// is left over from a crash; the next Open removes it.
const (
	lockFile    = "LOCK"
	currentFile = "CURRENT"
	versionFile = "VERSION"
	genPrefix   = "gen-"
)

// generations is the folder that holds the generations of one projection.
type generations struct {
	dir    string
	kind   Definition
	disk   sealed.Disk // writes CURRENT, VERSION and LOG
	origin LogIdentity // nil: the state is compared with no log
}

// openLive opens the live generation. It starts an empty one, which the log then fills, if there is
// none yet or if the live one is of an older version or was built from another log. why is the
// reason for starting an empty one, or "" if the live one was kept or none existed.
func (h generations) openLive(ctx context.Context) (g *generation, why string, err error) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, "", h.explain("open", err)
	}
	name, err := h.current()
	if err != nil {
		return nil, "", err
	}
	if name == "" {
		g, err = h.startEmpty()
		return g, "", err
	}
	outdated, err := h.outdated(name)
	if err != nil {
		return nil, "", err
	}
	if outdated {
		g, err = h.startEmpty()
		return g, outdatedState, err
	}
	g = &generation{dir: filepath.Join(h.dir, name)}
	if err := h.sweep(g.dir); err != nil {
		return nil, "", err
	}
	if g.p, err = h.kind.Open(g.dir); err != nil {
		return nil, "", err
	}
	why, noted, err := h.diverged(ctx, g.dir, g.p)
	if err == nil && why == "" && !noted {
		// An older version recorded no lineage; from now on it is compared.
		err = g.note(ctx, h)
	}
	if err == nil && why == "" {
		return g, "", nil
	}
	if err := errors.Join(err, g.p.Close()); err != nil {
		return nil, "", err
	}
	g, err = h.startEmpty()
	return g, why, err
}

const outdatedState = "it is of an older version or made with other settings"

// startEmpty creates an empty generation and makes it the live one.
func (h generations) startEmpty() (*generation, error) {
	p, dir, err := h.create()
	if err != nil {
		return nil, err
	}
	// A crash before publish leaves the old state live, or no state.
	if err := errors.Join(h.publish(dir), h.sweep(dir)); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return &generation{p: p, dir: dir}, nil
}

// current returns the name in CURRENT, or "" if there is no generation yet.
func (h generations) current() (string, error) {
	b, err := os.ReadFile(filepath.Join(h.dir, currentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", h.explain("open", err)
	}
	name := strings.TrimSuffix(string(b), "\n")
	if _, ok := genNumber(name); !ok {
		return "", h.damaged(fmt.Errorf("%s holds %q", currentFile, b))
	}
	return name, nil
}

// outdated reports whether a generation is of an older version than ours or was made with other
// settings. A newer version is an error.
func (h generations) outdated(name string) (bool, error) {
	b, err := os.ReadFile(filepath.Join(h.dir, name, versionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, h.damaged(fmt.Errorf("%s has no %s", name, versionFile))
	}
	if err != nil {
		return false, h.explain("open", err)
	}
	kind, number, _ := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	number, params, _ := strings.Cut(number, " ")
	version, err := strconv.Atoi(number)
	if kind != h.kind.Name || err != nil {
		return false, h.damaged(fmt.Errorf("%s of %s holds %q", versionFile, name, b))
	}
	if version > h.kind.Version {
		return false, schemas.Fatalf("%s: state in %s has version %d, written by a newer recount; this one knows up to %d: use the newer one, or rebuild the state with `recount rebuild --projection %s`",
			h.kind.Name, h.dir, version, h.kind.Version, h.kind.Name)
	}
	return version < h.kind.Version || !sameParams(params, h.kind.Params), nil
}

// sameParams compares settings. The order of their words has no meaning.
func sameParams(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.FieldsSeq(a)), slices.Sorted(strings.FieldsSeq(b)))
}

// create creates and opens an empty generation beside the existing ones.
func (h generations) create() (Projection, string, error) {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, "", h.explain("create generation", err)
	}
	highest := 0
	for _, e := range entries {
		if n, ok := genNumber(e.Name()); ok {
			highest = max(highest, n)
		}
	}
	dir := filepath.Join(h.dir, fmt.Sprintf("%s%06d", genPrefix, highest+1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", h.explain("create generation", err)
	}
	if err := h.replace(dir, versionFile, h.kind.stamp()); err != nil {
		return nil, "", h.explain("create generation", err)
	}
	p, err := h.kind.Open(dir)
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	return p, dir, nil
}

// stamp returns the content of the file VERSION.
func (k Definition) stamp() string {
	if k.Params == "" {
		return fmt.Sprintf("%s %d\n", k.Name, k.Version)
	}
	return fmt.Sprintf("%s %d %s\n", k.Name, k.Version, k.Params)
}

// publish makes the generation in dir the live one. A crash leaves either the old or the new one
// live; both are complete.
func (h generations) publish(dir string) error {
	return h.explain("publish generation", h.replace(h.dir, currentFile, filepath.Base(dir)+"\n"))
}

// sweep removes every generation except the one in dir.
func (h generations) sweep(dir string) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return h.explain("remove old generations", err)
	}
	for _, e := range entries {
		_, gen := genNumber(e.Name())
		if (gen || strings.HasSuffix(e.Name(), sealed.TempSuffix)) && e.Name() != filepath.Base(dir) {
			if err := os.RemoveAll(filepath.Join(h.dir, e.Name())); err != nil {
				return h.explain("remove old generations", err)
			}
		}
	}
	return nil
}

func genNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, genPrefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

func (h generations) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return schemas.Fatalf("%s: %s: %s cannot be written: %w", h.kind.Name, doing, h.dir, err)
	}
	return fmt.Errorf("%s: %s: %w", h.kind.Name, doing, err)
}

func (h generations) damaged(err error) error {
	return schemas.Fatalf("%s: state in %s is damaged: %w; `recount rebuild --projection %s` rebuilds it from the log",
		h.kind.Name, h.dir, err, h.kind.Name)
}

// replace replaces a file so that after a crash, including a power cut, it holds the old content or
// the new.
func (h generations) replace(dir, name, content string) error {
	return sealed.Replace(h.disk, dir, name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// lock locks the directory for this process until the returned file is closed.
func lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open projections: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return nil, schemas.Fatalf("open projections: %s cannot be written: %w", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open projections: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(schemas.Fatalf("open projections: %s is in use by another recount", dir), f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open projections: lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}
