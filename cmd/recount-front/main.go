// Command recount-front is the program recount of a release: it does what people type most and
// starts at once. For the rest it replaces itself by recount-engine, which is cmd/recount (package
// front, decision 108).
package main

import (
	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/front"
	"github.com/recountdb/recount/internal/render"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version string

func main() {
	t := cli.Terminal(render.DefaultSilence)
	cli.Exit(t, front.Main(t, cli.Version(version)))
}
