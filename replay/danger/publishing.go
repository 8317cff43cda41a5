package danger

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// publishing are rules about what builders, packagers and git extensions send to where others fetch it.
var publishing = []rule{
	{"publish", "make,gmake,just,task,rake,inv,invoke,mage,grunt,gulp,ant,mise run,composer run-script,composer run", ships, targetSays},
	{"publish", "sh,bash,zsh,dash,ksh", shipsFile, scriptSays},
	{"publish", "npm,yarn,pnpm,bun,nx,turbo", shipsScript, scriptSays},
	{"publish", "docker compose build,docker-compose build,docker buildx bake", flag("--push"), "it publishes an image"},
	{"publish", "docker build,docker buildx,buildctl build,podman build", matching(`type=registry|push=true`), "it publishes an image"},
	{"publish", "yarn npm", all(exactly("tag"), exactly("add remove")), "it changes what others fetch"},
	{"publish", "gem owner", flag("-a -r --add --remove"), "it changes who may publish"},
	{"publish", "cargo smart-release,cargo workspaces,cargo dist,cargo mono", some(flag("--execute"), exactly("publish upload --steps=upload")), "it publishes something, which cannot be taken back"},
	{"publish", "mill", matching(`(?i)publish(All|Sonatype)?$`), "it publishes something, which cannot be taken back"},
	{"publish", "fedpkg,rhpkg,centpkg,rfpkg", exactly("build push update import new-sources upload chain-build scratch-build override request-repo request-branch"), "it publishes something, or builds it where others see"},
	{"publish", "koji", unless(0, 1, "buildinfo,download-build,download-logs,download-task,hello,latest-build,moshimoshi,mock-config,rpminfo,taskinfo,hostinfo,taginfo,userinfo,watch-task,watch-logs,call,version"), "it changes what others build from"},
	{"publish", "bodhi", unless(0, 2, "updates download,updates query,composes info,releases info,overrides query"), "it changes what others get"},
	{"publish", "git-town", exactly("sync ship propose delete"), "it publishes commits"},
	{"publish", "git town", exactly("sync ship propose delete"), "it publishes commits"},
	{"publish", "ghstack", not(exactly("checkout unlink status --help")), "it publishes commits"},
	{"publish", "git imap-send", nil, "it sends drafts of mail to a server"},
	{"publish", "git", extensionPublishes, "it publishes commits"},
	{"publish", "git flow", all(exactly("finish delete"), flag("-p --push -r --remote")), "it publishes commits"},
	{"publish", "git annex", exactly("sync push assist"), "it publishes commits, or content"},
	{"publish", "fossil push,fossil sync,cm checkin,cm ci,cm push,cm replicate", nil, "it publishes commits"},
	{"publish", "cvs", all(exactly("commit ci import tag rtag admin"), not(flag("-n"))), "it publishes commits"},
	{"publish", "p4 client,p4 workspace,p4 user,p4 group,p4 label,p4 branch,p4 depot,p4 stream", flag("-d"), "it removes what others use"},
	{"publish", "p4", unless(0, 1, `add,annotate,branches,change,changes,changelists,clean,client,clients,copy,delete,dirs,edit,files,filelog,fstat,grep,groups,have,integ,integrate,
		integrated,interchanges,istat,jobs,keys,labels,login,logout,merge,move,open,opened,passwd,protects,reconcile,rec,rename,reopen,resolve,resolved,revert,set,
		sizes,stream,streams,switch,sync,tickets,trust,unshelve,update,users,where,workspace,workspaces,flush,where`), "it changes what others see"},
	{"send", "solana", exactly("deploy close set-upgrade-authority set-buffer-authority transfer write-buffer authorize withdraw-stake delegate-stake deactivate-stake create-stake-account withdraw-from-vote-account"), "it sends to a chain, which cannot be taken back"},
	{"remove", "solana-keygen", flag("--force -f"), "it replaces a key"},
	{"send", "spl-token", exactly("mint burn transfer close authorize freeze thaw create-token create-account wrap"), "it sends to a chain, which cannot be taken back"},
	{"send", "starkli,sncast,cleos,eosc", exactly("invoke deploy declare push transfer"), "it sends to a chain, which cannot be taken back"},
	{"send", "geth,polkadot-js-api", matching(`^tx\.|send(Raw)?Transaction|personal\.`), "it sends to a chain, which cannot be taken back"},
	{"send", "op item,op document,op vault,op user,op group,op connect", exactly("create edit delete move share grant revoke suspend provision confirm"), "it changes what others read"},
	{"send", "kdeconnect-cli", flag("--ping --ping-msg --send-sms --share --share-text --ring --lock"), "it sends something to a device"},
	{"send", "curl,wget,http,https", matching(`(?i)^https?://[^/]*(telegram|slack|discord|twilio|pushover|ifttt|callmebot)[^/]*/.*(send|trigger|message|hook)`), "it sends a message"},
	{"send", "curl", all(flag("-K --config"), matching(`^https?://`), not(staysAtHome)), "it may send something: what it does is in a file"},
}

// builtins are git's own subcommands of which no word says that it sends something.
var builtins = words(`add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout
	checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential describe diff diff-files
	diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch for-each-ref format-patch fsck gc grep gui help hash-object
	init log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-tree mergetool mktag mktree multi-pack-index
	mv name-rev notes p4 pack-objects pack-refs patch-id prune pull push range-diff rebase reflog remote repack replace request-pull rerere reset
	restore rev-list rev-parse revert rm send-email shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule svn switch
	symbolic-ref tag unpack-objects update-index update-ref var verify-commit verify-pack verify-tag web--browse whatchanged worktree write-tree
	annex crypt secret review absorb extras lfs-transfer`)

var sends = lazyregexp.New(`^(push|publish|land|submit|ship|upload|send|dcommit)(-\w+)?$`)

// extensionPublishes reports whether a subcommand that is not git's own says that it sends something: git lfs
// push, git subtree push, git spr update.
func extensionPublishes(c *call) bool {
	sub := c.Sub()
	if sub == "" || builtins[sub] || c.Flag("-n", "--dry-run", "--help", "-h") {
		return false
	}
	if sub == "send-pack" || sub == "http-push" || sub == "spr" && exactly("update diff land")(c) {
		return true
	}
	for i, w := range shell.Operands(c.After(), "") {
		if i < 2 && sends.MatchString(w.Value) {
			return true
		}
	}
	return sends.MatchString(sub) && !strings.HasPrefix(sub, "send-email")
}

var (
	// shipping are parts of a target's name, as its first or its last, that send what is built to others; kept are those
	// which say that it stays.
	shipping = words("publish release deploy undeploy destroy teardown nuke upload ship")
	kept     = words("check dry dryrun plan preview diff local locally note notes build lint verify status list help guard prepare changelog validate")
	// pushing begins targets which say by push that they send an image or a chart.
	pushing = words("docker image images registry chart charts push")
)

// shipsTarget reports whether the name of a target or a script says that it sends what is built to others: deploy:prod,
// docs-deploy, docker-push.
func shipsTarget(name string) bool {
	parts := wordParts(name)
	if len(parts) == 0 || parts[0] == "test" || slices.ContainsFunc(parts, func(p string) bool { return kept[p] }) {
		return false
	}
	last := parts[len(parts)-1]
	return len(parts) == 1 && last == "apply" || shipping[parts[0]] || shipping[last] && last != "release" || last == "push" && pushing[parts[0]]
}

// ships reports whether a runner of targets has such a one.
func ships(c *call) bool {
	args := c.Args
	if strings.HasSuffix(c.Sub(), "run") || c.Sub() == "run-script" {
		args = c.After()
	}
	return slices.ContainsFunc(shell.Operands(args, "-f -C -j -d -t"), func(w shell.Word) bool { return bareWord.MatchString(w.Value) && shipsTarget(w.Value) })
}

// shipsFile reports whether the name of a script says so, that a shell is given or that is called by its path.
func shipsFile(c *call) bool {
	script := c.Head
	if shells[c.Name] {
		ws := c.operands("-o -O")
		if len(ws) == 0 || c.Flag("-c", "-n") {
			return false
		}
		script = ws[0]
	}
	base := strings.TrimSuffix(path.Base(script.Value), ".sh")
	return !script.Dynamic && (shells[c.Name] || strings.Contains(script.Value, "/")) && !slices.Contains(c.place.Own, path.Base(script.Value)) && !slices.Contains(c.place.Own, script.Value) &&
		(shipsTarget(base) || undoes(base) && namesProduction(c)) && !exactly("--help --check --plan --diff --status --list status list help check plan")(c)
}

// undoes reports whether the name of a script says that it takes something back or down.
func undoes(base string) bool {
	return slices.ContainsFunc(wordParts(base), func(p string) bool { return verbs[p].weight == first || verbs[p].weight == strong })
}

// namesProduction reports whether a word of a call is what is in production.
func namesProduction(c *call) bool { return c.matches(production) }

var production = lazyregexp.New(`^(--?[\w-]+=)?(prod|production)$`)

// containersInProduction reports whether docker copies into a container whose name says that it is in production.
func containersInProduction(c *call) bool {
	ws := shell.Operands(c.After(), "")
	if len(ws) != 2 {
		return false
	}
	name, _, into := strings.Cut(ws[1].Value, ":")
	return into && slices.ContainsFunc(wordParts(name), func(p string) bool { return p == "prod" || p == "production" })
}

// shipsScript reports whether a runner of scripts is told such a one.
func shipsScript(c *call) bool {
	name, after := c.Sub(), shell.Operands(c.After(), "-t --target --targets --filter -F -w --workspace -p --project -c --configuration")
	switch {
	case exactly("--help --dry-run -h")(c):
		return false
	case c.Name == "nx" || c.Name == "turbo":
		if w, ok := c.FlagValue("-t", "--target", "--targets"); ok {
			name = w.Value
		} else if name == "run" && len(after) > 0 {
			name = after[0].Value
		}
		_, target, ok := strings.Cut(name, ":")
		return shipsTarget(name) || ok && shipsTarget(target)
	case (name == "run" || name == "run-script") && len(after) > 0:
		name = after[0].Value
	case c.Name == "yarn" && name == "workspace" && len(after) > 1:
		name = after[1].Value
	case c.Name == "npm" || name == "deploy" && c.Name == "pnpm" && len(after) > 0 || name == "publish": // which has rules of its own
		return false
	}
	return shipsTarget(name)
}
