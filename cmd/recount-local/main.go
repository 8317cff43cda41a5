// Command recount-local does what the small program recount does (cmd/recount-front) for a data
// directory that no server uses: it opens the parts of the directory that a question about commands
// reads. recount starts it in its own place; it leaves everything else to recount-engine (package
// front, decision 113).
package main

import (
	"context"
	"runtime/debug"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/front"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/local"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version string

// gcPercent lets a question about a small directory be answered without a garbage collection, which
// would take longer than it helps: the first begins at 32 MiB.
const gcPercent = 800

func main() {
	debug.SetGCPercent(gcPercent)
	t := cli.Terminal(render.DefaultSilence)
	cli.Exit(t, front.MainLocal(t, cli.Version(version), openLocal))
}

func openLocal(_ context.Context, dir string) (front.Opened, error) { return local.At(dir), nil }
