package runtime

import (
	"testing"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query/commands"
)

// TestADeployOfSomethingElseIsRecent checks which deploy is told of a service that none names.
func TestADeployOfSomethingElseIsRecent(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	deploy := func(command string, days int) commands.Intent {
		return commands.Intent{Command: command, Time: at.AddDate(0, 0, -days)}
	}
	in := func(dir string, c commands.Intent) commands.Intent {
		c.Cwd = "/src/" + dir
		return c
	}
	for name, x := range map[string]struct {
		all  []commands.Intent
		want string
	}{
		"one that names it, however old":    {[]commands.Intent{deploy("kubectl apply -f db.yaml", 1), deploy("helm upgrade carts", 1000)}, "helm upgrade carts"},
		"another of the week before":        {[]commands.Intent{deploy("kubectl apply -f db.yaml", 6), deploy("rsync -a . host:", 1000)}, "kubectl apply -f db.yaml"},
		"another of years ago says nothing": {[]commands.Intent{deploy("rsync -a . host:", 1000)}, ""},
		"one of another service is not its": {[]commands.Intent{deploy("docker compose up -d stock", 1), deploy("rsync -a . host:", 2)}, "rsync -a . host:"},
		"in its repository, of another":     {[]commands.Intent{in("shop", deploy("docker compose up -d stock", 1)), in("shop", deploy("make deploy", 2))}, "make deploy"},
		"it and another":                    {[]commands.Intent{deploy("docker compose up -d stock carts", 1)}, "docker compose up -d stock carts"},
	} {
		d := deploys{all: x.all, homes: &homes{
			known:     map[string]*Home{"carts": {Repo: "example.org/shop"}, "stock": nil},
			observers: map[string]observed.Service{"carts": {}, "stock": {}},
		}, known: map[string]*commands.Intent{}}
		got := ""
		if c := d.before("carts", at); c != nil {
			got = c.Command
		}
		if got != x.want {
			t.Errorf("%s: %q; want %q", name, got, x.want)
		}
	}
}
