package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// What is kept for many at a service. The words of a program that nobody knows show it by what they name, and not
// only by what they do: `frob set x` may be about a file, `frob secret set x` is about what others use. Clients of
// services that are known talk about nothing else.

// services are the rules about such clients. unless has what asks, or stays on this machine.
var services = []rule{
	{
		"infrastructure", `koyeb,northflank,porter,scalingo,clever,gigalixir,platform,upsun,waypoint,qovery,render-cli,zeabur,sevalla,kinsta,pantheon,terminus,acquia,acli,lagoon,
		hf,huggingface-cli,wandb,sky,prefect,modal,beam,replicate,truss,dbt-cloud,fivetran,census,hightouch,airbyte,abctl,astro,dagster-cloud,polyaxon,clearml-task,clearml-data,clearml-agent,neptune,dstack,lightning,
		flarectl,cfcli,lexicon,fastly,akamai,gandi,dnscontrol,pdnsutil,pdns_control,keyhelp,ovhai,transip,
		bao,infisical,doppler,bw,bws,rbw,lpass,conjur,akeyless,credstash,berglas,phase,dcli,
		unleash,flagsmith,growthbook,configcat,datadog-ci,newrelic,honeycomb,honeymarker,pagerduty,opsgenie,victorops,checkly,statuspage,icingacli,
		spinnaker,harness,gocd,buddy,bitrise,codemagic,cm-cli,
		patronictl,repmgr,pgbackrest,vtctldclient,vtctlclient,orchestrator-client,couchbase-cli,cbbackupmgr,asadm,zkcli,algolia,hasura,appwrite,directus,storyblok,contentful,fauna,nhost,convex,sanity,vespa,
		radosgw-admin,rados,purevol,purepgroup,isi,tmsh,xe,
		oozie,artemis,storm,zbctl,camunda,near,gaiad,osmosisd,junod,soroban,stellar,electrum,
		sceptre,azd,tsuru,linstor,kcadm.sh,m365,auth0,okta,todoist,gcalcli,clickup,asana,redmine,youtrack,pwclient,longhornctl,
		awx,tower-cli,puppetserver,chamber,emqx_ctl,vmq-admin,stolonctl,sensuctl,pulp,deck,tiup,headscale,netbird,cobbler,hammer,subscription-manager,kolla-ansible,gnmic,
		baremetal,nova,neutron,glance,cinder,heat,ironic,manila,magnum,trove,designate,barbican,senlin,mistral,zun,colmena,devtron,karmadactl,kubefed,clusteradm,operator-sdk,fluvio,pachctl,feast,seldon,shorebird,code-push,syncthing,seaf-cli,ovh-cli,snapcraft,cloudsmith`,
		unless(0, 3, `agent,api,app shell,apikey,attach,auth,bash,build,cache,call,checkout,clone,collect,compile,completions,compute build,compute hash-files,compute init,compute pack,compute serve,config,connect,console,
			contexts,convert,create-snap,dashboard,decrypt,dev,display,download,encode,encrypt,env,exec,experimental,expand,export-login,extensions,flow serve,format,generate,gen,genpwd,get-config,
			init,install,install-deps,inventory,keypair,launch -h,link,local,lock,log-tail,login,logout,lookup,migrate create,mirror,n l,r l,v l,sp l,agenda,calw,calm,provision --preview,new,offline,online,open,option,package,pack,
			pg-dump,playbooks,prechecks,prime,print-config,process,profile,project,project init,prompt,proxy,pull,query,register-app,repo list,replay,receive,run,sandbox,scaffold,schema,secrets download,secrets get,select,selfupdate,self-update,self,
			serve,server start,shell,show-gpus,sites,source,snap,ssh,state,stage,stat,subscribe,sync --dry-run,target,telemetry,template,test,tunnel,types,unlink,unlock,
			use,view,volumes,worker,workspace`), "it changes what is kept at a service",
	},
	{"infrastructure", "rados", exactly("put rm create append truncate setxattr rmxattr cppool mkpool rmpool purge import"), "it changes what is kept at a service"},
	{"cluster", "gnmic,gnmi_set,napalm", some(exactly("set configure"), func(c *call) bool { return c.Name == "gnmi_set" }), "it changes a device of the network"},
	{"cluster", "netconf-console,netconf-console2", flag("--edit-config --commit --copy-config --delete-config --kill-session --rpc"), "it changes a device of the network"},
	{"database", "xtrabackup,mariabackup,innobackupex", flag("--copy-back --move-back"), "it replaces the files of a database"},
	{"database", "barman", exactly("delete recover archive-wal switch-wal switch-xlog keep replication receive-wal backup restore"), "it changes backups, or what they are restored to"},
	{"database", "wal-g,wal-e,pbm", exactly("backup-push wal-push backup-fetch delete backup restore cancel-backup pitr-restore"), "it changes backups, or what they are restored to"},
	{"database", "myloader,mysqlimport", storesAway, "it changes a database of another machine"},
	{"database", "cbimport,sstableloader,cassandra-stress,vmctl,scylla-bulk,tsbs_load,dsbulk load,clickhouse-copier", not(some(flag("--help --version"), staysAtHome)), "it changes a database of another machine"},
	{"send", "nextcloudcmd,owncloudcmd,onedrive,maestral start,megasync,mega-sync,lsyncd,osync,insync,dropbox start", all(someArgument, not(flag("--help --version --display-config --display-sync-status"))), "it changes what is kept at a service"},
	{"send", "chromatic,sonar-scanner,sonar,snyk monitor,fossa analyze,fossa test,appcenter codepush,percy exec,lhci upload,lhci autorun", not(some(flag("--help --version -v -h --dry-run --output"), staysAtHome)), "it sends what is here to a service"},
	{"database", "memcflush,memcrm,memccp,memctouch", not(flag("--help --version")), "it changes a cache others use"},
	{"database", "strmqm,endmqm,dltmqm,crtmqm,amqsput,amqsputc,setmqaut", someArgument, "it changes queues, or what is in them"},
	{"publish", "lerna version", not(flag("--no-push --no-git-tag-version")), "it publishes commits"},
	{"publish", "release-please,auto,ghp-import,w3,swift package-registry,ansible-galaxy role,ansible-galaxy collection", some(exactly("release-pr github-release shipit ship release up publish import"), flag("-p --push")), "it publishes something"},
	{"publish", "steamcmd", matching(`^\+workshop_build_item`), "it publishes something, which cannot be taken back"},
	{"mail", "mbsync,offlineimap,imapfilter,fetchmail,mpop,getmail", not(some(flag("-l --dry-run -n -c --check --info -V --version -h --help"), matching(`^--list`))), "it changes mail on another machine"},
	{"database", "curator,curator_cli,es_repo_mgr,elasticsearch-curator", all(someArgument, not(some(flag("--dry-run"), matching(`^show_`)))), "it changes a cluster of databases"},
	{"database", "dgraph live,dgraph bulk,sqoop export,sqoop import", storesAway, "it changes a database of another machine"},
	{"publish", "cleartool,tf,accurev,pijul,darcs", exactly("checkin ci rmvob rmbranch rmview promote push send keep"), "it changes what others see"},
	{"infrastructure", "tfc run,terraform-cloud run,scalr run,bugzilla new,bugzilla modify,bugzilla attach", not(exactly("list ls show status logs")), "it changes what others use"},
	{"publish", "svnsync,svnadmin setrevprop,svnadmin setlog,rbt land,git-cl land,git cl", not(some(flag("--help -n --dry-run"), exactly("status issue web format lint try-results description help"))), "it changes what others see"},
	{"send", "vdirsyncer sync,khal new,telepresence intercept,ktunnel expose,gerrit review,stripe trigger", nil, "it changes what is kept at a service"},
}

// showsDevice reports whether what is run on another machine only shows something. Without a command the user
// types one.
func showsDevice(c *call) bool {
	command := ""
	if ws := c.operands("-l -i -P -pw -pwfile -load -D -L -R -u -p -f -ComputerName -Credential -Session"); len(ws) > 1 {
		command = ws[1].Value
	}
	if w, ok := c.FlagValue("-c", "-m", "-x", "--cmd", "-ScriptBlock"); ok {
		command = w.Value
		if i := slices.Index(c.Args, w); w.Value == "{" { // a block of several words
			command = joined(c.Args[i:])
		}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(command, "{ "), " ")
	verb, _, _ := strings.Cut(strings.ToLower(first), "-")
	return first == "" && c.Name != "netmiko-cfg" || shows[first] || looking[verb]
}

var (
	// shared are what is kept for many, in the singular.
	shared = words(`account alert alias apikey app branch bucket campaign canary certificate channel cluster contract
		cron dashboard database dataset dashboard deployment device dns domain downtime droplet endpoint event feature
		firewall flag function group host hostname incident ingress instance integration invite invitation job kv lambda
		issue listener loadbalancer machine maintenance member membership message monitor mr namespace object org organization page
		payment permission pipeline pr policy pool pull-zone queue quota record release replica rollout
		route rule schedule secret server service shard silence site space stack subscription
		table team tenant ticket token topic traffic tunnel user variable vault vhost view vm volume vpc webhook workflow workspace zone`)
	// changes are verbs that change such a thing, or set it going.
	changes = words(`activate add apply approve assign associate attach bump change claim configure create dispatch edit enable execute feed grant
		import ingest insert invite invoke launch load merge migrate modify move patch pause provision put register reinit reload rename
		replace resume rotate scale schedule set submit swap switchover switch sync tag toggle transition trigger unlock up update upgrade upsert write`)
)

// singular returns a noun without the ending of its plural.
func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies"):
		return strings.TrimSuffix(s, "ies") + "y"
	case len(s) > 3 && !strings.HasSuffix(s, "ss"):
		return strings.TrimSuffix(s, "s")
	}
	return s
}

// changesShared reports whether the first words of a call name something that is kept for many, and a verb that
// changes it, in either order: secret set, create incident, dns:add, createAlert.
func (c *call) changesShared() bool {
	if talks, ruled := programs()[c.tabled()]; ruled && !talks {
		return false
	}
	noun, verb := false, false
	for i, w := range shell.Operands(c.Args, valuedBefore) {
		if i > 2 || w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value) {
			break
		}
		parts := wordParts(w.Value)
		first, last := parts[0], parts[len(parts)-1]
		switch {
		case len(parts) == 2 && (changes[first] && shared[singular(last)] || changes[last] && shared[singular(first)]):
			return true
		case len(parts) == 1 && changes[first] && !verb:
			verb = true
		case shared[singular(strings.ToLower(w.Value))] || len(parts) == 2 && strings.Contains(w.Value, "-") && shared[singular(last)]:
			noun = true
		}
		if noun && verb {
			return true
		}
	}
	return false
}
