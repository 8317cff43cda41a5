package git

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Name returns the name by which the repository is known elsewhere: that of its remote origin, such
// as github.com/acme/shop; else the module in go.mod at the commit head; else the name of its
// directory. head may be "".
func (r *Repo) Name(ctx context.Context, head string) (string, error) {
	remote, err := r.Config(ctx, "remote.origin.url")
	if err != nil {
		return "", err
	}
	if name := schemas.CanonicalURL(remote); name != "" {
		return name, nil
	}
	if head != "" {
		name, err := r.module(ctx, head)
		if err != nil || name != "" {
			return name, err
		}
	}
	return strings.TrimSuffix(strings.ToValidUTF8(filepath.Base(r.Root()), "?"), ".git"), nil
}

var (
	moduleLine   = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)
	majorVersion = regexp.MustCompile(`/v[0-9]+$`)
)

// module returns the module path in a commit's go.mod without its major version, "" if there is
// none that contains a host.
func (r *Repo) module(ctx context.Context, commit string) (string, error) {
	o := r.Objects(ctx)
	defer o.Close()
	id := ""
	err := o.Infos([]string{commit + ":go.mod"}, func(_ int, info Info) error {
		if info.Type == TypeBlob && info.Size < 1<<20 {
			id = info.ID
		}
		return nil
	})
	if err != nil || id == "" {
		return "", err
	}
	name := ""
	err = o.Read([]string{id}, func(_ int, _ Info, content []byte) error {
		m := moduleLine.FindSubmatch(bytes.ToValidUTF8(content, nil))
		if m == nil {
			return nil
		}
		if host, _, ok := strings.Cut(string(m[1]), "/"); ok && strings.Contains(host, ".") {
			name = majorVersion.ReplaceAllString(string(m[1]), "")
		}
		return nil
	})
	return name, err
}
