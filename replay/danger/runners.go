package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Programs that run the command in their last words, or in the value of a flag. The reader of lines follows
// sudo, xargs, docker exec and the like, of which it knows the files too; of these only the danger is known.

// runner says where the command is.
type runner struct {
	valued string // flags before the command that take a value
	skip   int    // operands before the command
	abroad bool   // it runs in a container or on another machine
	flags  string // flags whose value is the command; "" means that the last words are
	rest   bool   // what follows the value of such a flag belongs to the command
}

// runners are programs, with subcommands where these run something.
var runners = func() map[string]runner {
	m := map[string]runner{}
	for _, l := range []struct {
		programs string
		runner
	}{
		{"docker compose exec,docker-compose exec,podman compose exec,podman-compose exec", runner{valued: "-e --env -u --user -w --workdir --index", skip: 1, abroad: true}},
		{"docker compose run,docker-compose run,podman compose run,podman-compose run", runner{valued: "-e --env -u --user -w --workdir -v --volume -p --publish --name --entrypoint -l --label", skip: 1, abroad: true}},
		{
			"lxc exec,incus exec,multipass exec,limactl shell,nerdctl exec,crictl exec,pct exec,machinectl shell,toolbox run,oc rsh,oc exec,nomad alloc exec,apptainer exec,singularity exec,docker-machine ssh",
			runner{valued: "-n --name -c -u --user -e --env -w --workdir --cwd --mode -task -job --container --namespace", skip: 1, abroad: true},
		},
		{"arch-chroot,distrobox enter,distrobox-enter,proot-distro login", runner{valued: "-u -n --name", skip: 1, abroad: true}},
		{"lxc-attach,schroot,systemd-nspawn,proot,lima,minikube ssh", runner{valued: "-n --name -c --chroot -D --directory -M --machine -u --user -d -r -b -w -p --profile", abroad: true}},
		{"entr,unbuffer,chronic,torify,torsocks,tsocks,eatmydata,nocache,pyenv exec,rbenv exec,nodenv exec,asdf exec,mise exec,mise x,git bisect run,git submodule foreach,west forall,winpty,pkexec,fakeroot,bun x,yarn dlx,yarn exec,pnpm dlx,pnpm exec,npm exec,uv tool run,wsl,direnv exec,setarch,gosu,su-exec,volta run,fnm exec,lerna exec", runner{valued: "--prefix"}},
		{
			"sshpass,proxychains,proxychains4,doppler run,chamber exec,infisical run,teller run,envconsul,dotenvx run,dotenv,cross-env,summon,devbox run,conda run,mamba run,micromamba run,pixi run,rye run,hatch run,pdm run,pipx run,watchexec,numactl,taskset,chrt,cgexec,perf stat,perf record,run0,runuser,setpriv,dbus-run-session,railway run,guix shell",
			runner{valued: "-p -f -c -e -w --watch --exts --filter --env-file --project --config -n -N -m -g --reuid --regid -u --user --from --with --python --spec -C -s --signal --setenv --unit"},
		},
		{"tmux new,tmux new-session,tmux neww,tmux new-window,tmux splitw,tmux split-window", runner{valued: "-s -n -c -x -y -e -t -l -p -F -f"}},
		{"screen", runner{valued: "-S -dmS -c -t -p -h -s -e"}},
		{"faketime,datefudge", runner{valued: "-f", skip: 1}},
		{"sops exec-env,sops exec-file", runner{skip: 1}},
		{"env", runner{flags: "-S --split-string"}},
		{"git rebase", runner{flags: "-x --exec"}},
		{"nix-shell", runner{flags: "--run --command"}},
		{"nix develop,nix shell", runner{flags: "-c --command", rest: true}},
		{"nix run,go run,yarn,pnpm", runner{}},
		{"nodemon", runner{flags: "-x --exec"}},
		{"gcloud compute ssh,fly ssh console,flyctl ssh console,aws ecs execute-command,vagrant ssh", runner{flags: "--command -C -c", abroad: true}},
		{"kitty +kitten,kitten", runner{}},
		{"sg,repo forall", runner{flags: "-c"}},
		{"cmd", runner{flags: "/c /C /k /K"}},
	} {
		for name := range strings.SplitSeq(l.programs, ",") {
			m[name] = l.runner
		}
	}
	return m
}()

// nodePrograms are programs of packages that yarn and pnpm run by their name alone.
var nodePrograms = words("vercel netlify wrangler firebase surge np lerna changeset cdk sst serverless sls knex sequelize prisma typeorm semantic-release release-it gh-pages eas web-ext hardhat supabase railway")

// fetchedModule matches a package of Go on another machine, with the name of its program.
var fetchedModule = lazyregexp.New(`^[\w-]+\.[\w.-]+/(?:[\w.-]+/)*?([\w.-]+?)(?:/v\d+)?(?:@[\w.-]+)?$`)

// firstOperands are runners whose first word is a name, and not yet the command, although nothing tells it
// from one: a version, a profile, a directory.
var firstOperands = words("chamber direnv setarch gosu su-exec")

// runsAnother returns the command lines that a call of a runner runs, and how they run. ok is false if the
// program is none.
func (c *call) runsAnother() (lines []string, how runner, ok bool) {
	args, key := c.Args, c.Name
	how, ok = runners[key]
	if sub := c.Sub(); sub != "" {
		after := c.After()
		if r, found := runners[key+" "+sub]; found {
			args, how, ok = after, r, true
		}
		if ws := shell.Operands(after, "-f --file -p --project-name --profile"); len(ws) > 0 {
			at := slices.IndexFunc(after, func(w shell.Word) bool { return w == ws[0] })
			if r, found := runners[key+" "+sub+" "+ws[0].Value]; found && at >= 0 {
				args, how, ok = after[at+1:], r, true
			}
		}
	}
	if !ok || c.Wraps || c.Name == "screen" && !startsScreen(c.Args) {
		return nil, how, ok
	}
	if how.flags != "" {
		rest := &shell.Call{Args: args}
		if w, found := rest.FlagValue(strings.Fields(how.flags)...); found {
			if i := slices.IndexFunc(args, func(o shell.Word) bool { return o == w }); how.rest && i >= 0 {
				return []string{joined(args[i:])}, how, true
			}
			return []string{w.Value}, how, true
		}
		for i, w := range args {
			if strings.HasPrefix(w.Value, "/") && strings.Contains(" "+how.flags+" ", " "+w.Value+" ") && i+1 < len(args) {
				return []string{joined(args[i+1:])}, how, true
			}
		}
		if i := slices.IndexFunc(args, func(w shell.Word) bool { return w.Value == "--" }); how.abroad && i >= 0 && i+1 < len(args) {
			return []string{joined(args[i+1:])}, how, true
		}
		return nil, how, true
	}
	switch c.Name {
	case "go": // go run github.com/goreleaser/goreleaser@latest release
		if ws := shell.Operands(args, "-tags -mod -exec -ldflags -gcflags"); len(ws) > 0 && fetchedModule.MatchString(ws[0].Value) {
			return []string{fetchedModule.FindStringSubmatch(ws[0].Value)[1] + " " + joined(ws[1:])}, how, true
		}
		return nil, how, false
	case "yarn", "pnpm": // the program of a package, by its name
		sub := c.Sub()
		if ws := shell.Operands(c.After(), "--include --exclude --from"); c.Name == "yarn" && len(ws) > 1 && (sub == "workspace" || sub == "workspaces" && ws[0].Value == "foreach") {
			return []string{"yarn " + joined(ws[1:])}, how, true
		}
		if _, runs := runners[c.Name+" "+sub]; runs {
			break
		}
		if !nodePrograms[sub] {
			return nil, how, false
		}
		return []string{sub + " " + joined(c.After())}, how, true
	case "nix": // nix run nixpkgs#kubectl -- get pods
		if how.flags != "" {
			break
		}
		ws := shell.Operands(args, "")
		if len(ws) == 0 {
			return nil, how, true
		}
		_, program, _ := strings.Cut(ws[0].Value, "#")
		return []string{strings.TrimSpace(program + " " + joined(ws[1:]))}, how, true
	}
	skip := how.skip
	if firstOperands[c.Name] {
		skip = 1
	}
	valued := " " + how.valued + " "
	for i := 0; i < len(args); i++ {
		v := args[i].Value
		switch {
		case v == "--":
			if i+1 < len(args) && (skip == 0 || !strings.HasPrefix(args[i+1].Value, "-")) {
				return []string{joined(args[i+1:])}, how, true
			}
		case strings.HasPrefix(v, "-") && len(v) > 1:
			if strings.Contains(valued, " "+v+" ") {
				i++
			}
		case skip > 0:
			skip--
		case strings.Contains(v, "=") && !strings.ContainsAny(v, " ;"):
		default:
			return []string{joined(args[i:])}, how, true
		}
	}
	return nil, how, true
}

// startsScreen reports whether screen runs a program in a window of its own: its first flag says that it is detached.
func startsScreen(args []shell.Word) bool {
	return len(args) > 1 && strings.HasPrefix(args[0].Value, "-d") && strings.Contains(args[0].Value, "m")
}

// joined makes a line of some words. A single one that is quoted is a line by itself.
func joined(ws []shell.Word) string {
	if len(ws) == 1 && ws[0].Quoted {
		return ws[0].Value
	}
	var parts []string
	for _, w := range ws {
		if w.Text == "" {
			parts = append(parts, w.Value)
			continue
		}
		parts = append(parts, w.Text)
	}
	return strings.Join(parts, " ")
}
