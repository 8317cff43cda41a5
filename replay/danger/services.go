package danger

import (
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
		awx,tower-cli,bolt,cobbler,hammer,subscription-manager,kolla-ansible,gnmic,
		baremetal,nova,neutron,glance,cinder,heat,ironic,manila,magnum,trove,designate,barbican,senlin,mistral,zun,colmena,devtron,karmadactl,kubefed,clusteradm,operator-sdk,fluvio,pachctl,feast,seldon,shorebird,code-push,syncthing,seaf-cli,ovh-cli,snapcraft,cloudsmith`,
		unless(0, 3, `agent,api,app shell,apikey,attach,auth,bash,build,cache,call,checkout,clone,collect,compile,completions,compute build,compute hash-files,compute init,compute pack,compute serve,config,connect,console,
			contexts,convert,create-snap,dashboard,decrypt,dev,display,download,encode,encrypt,env,exec,experimental,expand,export-login,extensions,flow serve,format,generate,gen,genpwd,get-config,
			init,install,install-deps,inventory,keypair,launch -h,link,local,lock,log-tail,login,logout,lookup,migrate create,mirror,new,offline,online,open,option,package,pack,
			pg-dump,playbooks,prechecks,prime,print-config,process,profile,project,project init,prompt,proxy,pull,query,register-app,repo list,replay,receive,run,sandbox,scaffold,schema,secrets download,secrets get,select,selfupdate,self-update,self,
			serve,server start,shell,show-gpus,sites,source,snap,ssh,state,stage,stat,subscribe,sync --dry-run,target,telemetry,template,test,tunnel,types,unlink,unlock,
			update,upgrade,use,view,volumes,worker,workspace`), "it changes what is kept at a service",
	},
	{"infrastructure", "rados", exactly("put rm create append truncate setxattr rmxattr cppool mkpool rmpool purge import"), "it changes what is kept at a service"},
	{"remote", "salt-key", all(someArgument, not(some(flag("-l -L -f -F -p -P"), matching(`^--(list|finger|print|gen-keys)`)))), "it changes which machines obey"},
	{"remote", "salt-cloud", not(some(flag("-Q -F -S -l --query --full-query --select-query --version --help"), matching(`^--(list|show)`))), "it makes or removes machines"},
	{"remote", "openstack-ansible,ceph-ansible,ansible-runner,ansible-navigator,cf-runagent,itamae ssh,kitchen converge,kitchen destroy,tsh ssh,rke up,rke remove", not(some(flag("--check --list-hosts --syntax-check --version --help"), exactly("doc inventory config images collections lint explain replay"))), "it changes other machines"},
	{"remote", "plink,clogin,jlogin,flogin,hlogin,nlogin,winrs,psexec,psexec.py,wmiexec.py,smbexec.py,netmiko-cfg,Invoke-Command", not(showsDevice), "it runs something on another machine"},
	{"cluster", "gnmic,gnmi_set,napalm", some(exactly("set configure"), func(c *call) bool { return c.Name == "gnmi_set" }), "it changes a device of the network"},
	{"cluster", "netconf-console,netconf-console2", flag("--edit-config --commit --copy-config --delete-config --kill-session --rpc"), "it changes a device of the network"},
	{"system", "ovs-vsctl,ovn-nbctl,ovn-sbctl,ovs-ofctl,ovs-appctl,ovs-dpctl", not(some(exactly("show list find get dump-flows dump-ports dump-tables dump-ports-desc list-br list-ports br-exists ls-list lr-list acl-list fdb/show dpif/show ofproto/trace vlog/list bond/show lacp/show list-commands version"), matching(`^(list|dump|show|get)-|-list$|/(show|list|stats-show)$`))), "it changes the machine's network"},
	{"database", "xtrabackup,mariabackup,innobackupex", flag("--copy-back --move-back"), "it replaces the files of a database"},
	{"database", "barman", exactly("delete recover archive-wal switch-wal switch-xlog keep replication receive-wal backup restore"), "it changes backups, or what they are restored to"},
	{"database", "wal-g,wal-e,pbm", exactly("backup-push wal-push backup-fetch delete backup restore cancel-backup pitr-restore"), "it changes backups, or what they are restored to"},
	{"database", "myloader,mysqlimport", storesAway, "it changes a database of another machine"},
	{"database", "cbimport,sstableloader,cassandra-stress,vmctl,scylla-bulk,tsbs_load,dsbulk load,clickhouse-copier", not(some(flag("--help --version"), staysAtHome)), "it changes a database of another machine"},
	{"send", "nextcloudcmd,owncloudcmd,onedrive,maestral start,megasync,mega-sync,lsyncd,osync,insync,dropbox start", all(someArgument, not(flag("--help --version --display-config --display-sync-status"))), "it changes what is kept at a service"},
	{"send", "chromatic,sonar-scanner,sonar,snyk monitor,fossa analyze,fossa test,appcenter codepush,percy exec,lhci upload,lhci autorun", not(some(flag("--help --version -v -h --dry-run --output"), staysAtHome)), "it sends what is here to a service"},
	{"remote", "nixos-anywhere,deploy-rs,comin,clan machines", not(flag("--help --vm-test --dry-activate")), "it changes other machines"},
	{"database", "memcflush,memcrm,memccp,memctouch", not(flag("--help --version")), "it changes a cache others use"},
	{"database", "strmqm,endmqm,dltmqm,crtmqm,amqsput,amqsputc,setmqaut", someArgument, "it changes queues, or what is in them"},
	{"system", "lctl,mmshutdown,mmchconfig,mmdelsnapshot,mmdelfs,mmcrfs,mmdelnode,beegfs-ctl,mfssetgoal", all(someArgument, not(some(exactly("list get_param dl device_list ping"), matching(`^--(list|get|show)`)))), "it changes a storage of many machines"},
	{"disk", "storcli,storcli64,perccli,perccli64,ssacli,hpssacli,hpacucli,arcconf,megacli,MegaCli,MegaCli64,sas2ircu,sas3ircu", all(matching(`(?i)(del\w*|erase|clear|init|set\w*|modify|create|remove|format|restore|unconf\w*|offline|add\w*|flash|download|start)$|^-(Cfg|Ld|Pd|Adp)\w*(Del|Clr|Clear|Add|Set|Off|Init|Prp)|^(delete|add|create|set|start)`), not(exactly("show display list getconfig"))), "it changes an array of disks"},
	{"disk", "format", matching(`^[A-Za-z]:$`), "it makes a file system where something may be"},
	{"system", "net", some(matchingFold("/add /delete stop start leave join /active:no /active:yes"), matching(`(?i)^/(add|delete)`)), "it changes users or services of the machine"},
	{"system", "icacls,cacls,takeown,msiexec", matching(`(?i)^[/-][xif]$|^[A-Za-z]:`), "it changes permissions or software of the machine"},
	{"remove", "robocopy", matchingFold("/mir /purge /move /mov"), "it removes files at its destination"},
	{"remote", "cf-agent,rudder agent", not(flag("-n --dry-run -h --help -V")), "it changes the machine as somebody else has told"},
	{"publish", "lerna version", not(flag("--no-push --no-git-tag-version")), "it publishes commits"},
	{"publish", "release-please,auto,ghp-import,w3,swift package-registry,ansible-galaxy role,ansible-galaxy collection", some(exactly("release-pr github-release shipit ship release up publish import"), flag("-p --push")), "it publishes something"},
	{"publish", "steamcmd", matching(`^\+workshop_build_item`), "it publishes something, which cannot be taken back"},
	{"mail", "mbsync,offlineimap,imapfilter,fetchmail,mpop,getmail", not(some(flag("-l --dry-run -n -c --check --info -V --version -h --help"), matching(`^--list`))), "it changes mail on another machine"},
	{"database", "curator,curator_cli,es_repo_mgr,elasticsearch-curator", all(someArgument, not(some(flag("--dry-run"), matching(`^show_`)))), "it changes a cluster of databases"},
	{"database", "dgraph live,dgraph bulk,sqoop export,sqoop import", storesAway, "it changes a database of another machine"},
	{"containers", "podman machine,docker machine", exactly("rm reset"), "it removes a machine with its data"},
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
		listener loadbalancer machine maintenance member membership message monitor namespace object org organization page
		payment permission pipeline policy pool pull-zone queue quota record release replica rollout
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
