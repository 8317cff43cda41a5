package narrative

import (
	"path"
	"slices"
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Effect is what a command does beyond the resources it names, as far as its
// text says.
type Effect uint16

// The effects. Those up to changes alter something that outlives the command.
const (
	// Writes: it writes, creates or removes a resource.
	Writes Effect = 1 << iota
	// WritesTree: what it writes are whole directories: git clone, tar, cp -r.
	WritesTree
	// WritesWorktree: it rewrites files of the repository: git checkout, git pull.
	WritesWorktree
	// Installs: it adds or removes software.
	Installs
	// Configures: it changes settings of the machine or the program.
	Configures
	// SetsEnvironment: it changes variables of the session: export, source.
	SetsEnvironment
	// RunsService: it starts or ends what goes on running: docker run -d, kill.
	RunsService
	// Navigates: it goes to another directory.
	Navigates
	// Builds: it reads the tree of files below its working directory.
	Builds
	// mayFail: its own event does not say that it succeeded.
	mayFail

	changes = Writes | WritesTree | WritesWorktree | Installs | Configures | SetsEnvironment | RunsService
)

// effectsOf are the effects that go by a program's name, or by its name and its
// subcommand.
var effectsOf = effectTable(map[Effect]string{
	WritesTree:      "git clone,mkdir,tar,bsdtar,unzip,cp,mv,rm,rsync,ln,7z,cpio,chmod,chown,virtualenv,git init,git worktree,cargo new,npm init,install",
	WritesWorktree:  "git checkout,git switch,git pull,git merge,git rebase,git reset,git stash,git apply,git am,git cherry-pick,git revert,git restore,git clean,git submodule,git bisect,patch,hg update,svn update",
	Installs:        "pip install,pip uninstall,pip3 install,pip3 uninstall,pipx install,uv add,uv sync,uv pip,poetry add,poetry install,poetry remove,pdm add,conda install,conda create,mamba install,pipenv install,gem install,bundle install,composer install,composer require,npm install,npm i,npm ci,npm uninstall,npm add,npm update,yarn add,yarn install,yarn remove,pnpm add,pnpm install,pnpm remove,bun add,bun install,go get,go install,go mod,cargo add,cargo install,cargo update,apt install,apt remove,apt purge,apt-get install,apt-get remove,apt-get purge,apt-get update,apt update,apk add,apk del,yum install,dnf install,brew install,brew upgrade,brew uninstall,snap install,dpkg,rpm,pacman,rustup,nvm,pyenv",
	SetsEnvironment: "export,source,.,unset,set,alias,conda activate,conda deactivate,deactivate,nvm use,direnv",
	RunsService:     "kill,pkill,killall,systemctl,service,launchctl,supervisorctl,pm2,docker run,docker start,docker stop,docker restart,docker kill,docker rm,docker compose,docker-compose,nginx,podman run,podman stop,fuser",
	Configures:      "git config,git remote,chmod,chown,sysctl,ulimit,update-alternatives,kubectl config,npm config,go env",
	Navigates:       "cd,pushd,popd,z",
})

func effectTable(in map[Effect]string) map[string]Effect {
	out := map[string]Effect{}
	for e, names := range in {
		for name := range strings.SplitSeq(names, ",") {
			out[name] |= e
		}
	}
	return out
}

// gitFiles are the files of the repository that git's subcommands read and
// write: what joins add to commit and commit to push.
var gitFiles = map[string]struct{ index, head Access }{
	"add": {Write, 0}, "stage": {Write, 0}, "rm": {Write, 0}, "mv": {Write, 0},
	"commit": {Read, Write}, "merge": {Write, Write}, "rebase": {Write, Write}, "pull": {Write, Write},
	"cherry-pick": {Write, Write}, "revert": {Write, Write}, "am": {Write, Write}, "reset": {Write, Write},
	"checkout": {Write, Write}, "switch": {Write, Write}, "stash": {Write, 0}, "restore": {Write, 0},
	"push": {0, Read}, "tag": {0, Read}, "log": {0, Read}, "show": {0, Read}, "diff": {Read, Read}, "status": {Read, Read},
	"init": {Write, Write},
}

// understand makes of an intent the effects, the resources and the goal of its
// node.
func understand(in *recountv1.Intent) (Effect, []Resource, goal) {
	var e Effect
	if in.ExitCode == nil || *in.ExitCode != 0 {
		e |= mayFail
	}
	rs := make([]Resource, 0, len(in.Resources)+3)
	for _, r := range in.Resources {
		if len(rs) == maxResources {
			break
		}
		rs = append(rs, Resource{Kind: r.Kind, Name: r.Name, Access: accessOf(r.Access)})
	}
	implied := func(name string, a Access) {
		if a != 0 && len(rs) < maxResources+3 {
			rs = append(rs, Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: name, Access: a | Implied})
		}
	}
	all := simples(in)
	g := goalOf(in, all)
	if slices.ContainsFunc(in.Tokens, func(t *recountv1.Token) bool { return t.Kind == recountv1.TokenKind_TOKEN_KIND_BACKGROUND }) {
		e |= RunsService // it goes on running
		for _, t := range in.Tokens {
			if p := portOf(t); p != "" && len(rs) < maxResources {
				rs = append(rs, Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PORT, Name: p, Access: Write | Implied})
			}
		}
	}
	git := false
	for _, s := range all {
		e |= effectsOf[s.program]
		if len(s.subs) == 0 {
			continue
		}
		e |= effectsOf[s.program+" "+s.subs[0]]
		if f, ok := gitFiles[s.subs[0]]; ok && s.program == "git" && !git {
			if root := rootOf(in.Workspace, s.dir); root != "" {
				git = true
				implied(path.Join(root, ".git/index"), f.index)
				implied(path.Join(root, ".git/HEAD"), f.head)
			}
		}
	}
	if e&WritesWorktree != 0 {
		if root := rootOf(in.Workspace, g.dir); root != "" {
			implied(root, Write|Tree)
		}
	}
	if in.Category == recountv1.Category_CATEGORY_BUILD && e&(Installs|WritesWorktree) == 0 {
		e |= Builds
		if strings.HasPrefix(g.dir, "/") {
			implied(path.Clean(g.dir), Read)
		}
	}
	for i := range rs {
		if rs[i].Access&(Write|Implied) != Write {
			continue
		}
		e |= Writes
		if e&WritesTree != 0 && rs[i].Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH {
			rs[i].Access |= Tree
		}
	}
	return e, rs, g
}

// portOf is the port that an argument of what goes on running may ask for: 8080,
// 127.0.0.1:8080, --port=8080; "" where it is none.
func portOf(t *recountv1.Token) string {
	if t.Kind != recountv1.TokenKind_TOKEN_KIND_ARGUMENT && t.Kind != recountv1.TokenKind_TOKEN_KIND_FLAG {
		return ""
	}
	p := t.Text[strings.LastIndexAny(t.Text, ":=")+1:]
	if n, err := strconv.ParseUint(p, 10, 16); err != nil || n < 1024 {
		return ""
	}
	return p
}

func accessOf(a recountv1.Access) Access {
	switch a {
	case recountv1.Access_ACCESS_READ:
		return Read
	case recountv1.Access_ACCESS_WRITE:
		return Write
	case recountv1.Access_ACCESS_READ_WRITE:
		return Read | Write
	}
	return 0
}

// rootOf is the top of the working tree that a directory lies in, as far as can
// be told: the workspace where it is in it, else the directory itself; "" where
// that is not known.
func rootOf(workspace, dir string) string {
	switch {
	case !strings.HasPrefix(dir, "/"):
		return ""
	case strings.HasPrefix(workspace, "/") && (dir == workspace || below(dir, workspace)):
		return workspace
	}
	return path.Clean(dir)
}
