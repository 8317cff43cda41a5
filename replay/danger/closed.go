package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// Programs that do nothing but talk to what others use: clusters, providers, code hosts, stores of images,
// queues. They get new subcommands with every release. So what only asks, or stays on this machine, is written
// down, and whatever else they are told changes something there.

// closed are the rules about them. unless has what asks besides the words that ask everywhere.
var closed = []rule{
	// Clusters.
	{"cluster", "kubectl,oc,kubecolor", unless(0, 1, `adm,annotate,api-resources,api-versions,argo,auth can-i,auth whoami,cert-manager,certificate,cnpg,directpv,minio,rook-ceph,cluster-info,completion,config,convert,
		cp,create,ctx,debug,exec,image,krew,kustomize,label,login,logout,neat,new-project,ns,options,plugin,policy,port-forward,process,project,
		projects,proxy,registry,rollout,rsh,rsync,set,start-build,stern,tag,tree,uncordon`), "it changes a cluster"},
	{"cluster", "kubectl debug,oc debug", matching(`^node/`), "it gets onto a machine of a cluster"},
	{"cluster", "kubectl cp,oc cp,oc rsync", intoPod, "it changes what runs in a cluster"},
	{"cluster", "kubectl argo,kubectl cnpg,kubectl minio,kubectl directpv,kubectl rook-ceph,kubectl cert-manager", unless(1, 3, "completion,rollouts lint"), "it changes a cluster"},
	{"cluster", "helm", exactly("cm-push s3"), "it publishes a chart"},
	{"cluster", "argocd", unless(0, 2, "admin,app manifests,app resources,appset generate,context,login,logout,relogin,proj windows list"), "it changes a cluster"},
	{"cluster", "argo", unless(0, 2, "archive,auth,cp,executor-plugin,server,template get,cron get"), "it changes a cluster"},
	{"cluster", "flux", unless(0, 1, "build,create,debug,envsubst,install,pull,tree,list,migrate"), "it changes a cluster"},
	{"cluster", "flux create,flux install", not(flag("--export")), "it changes a cluster"},
	{"cluster", "tkn", unless(0, 2, "bundle,pipeline export,plugin"), "it changes a cluster"},
	{"cluster", "kn", unless(0, 2, "plugin,source list-types"), "it changes a cluster"},
	{"cluster", "velero", unless(0, 2, "backup download,client,debug,install --dry-run"), "it changes a cluster"},
	{"cluster", "eksctl", unless(0, 2, "utils schema,utils write-kubeconfig,associate"), "it changes a cluster"},
	{"cluster", "istioctl", unless(0, 1, "admin,analyze,authz,bug-report,create-remote-secret,experimental,kube-inject,manifest,operator,profile,proxy-config,pc,proxy-status,remote-clusters,tag list,tag generate,validate,waypoint,ztunnel-config,x"), "it changes a cluster"},
	{"cluster", "cilium", unless(0, 2, "bgp,config view,connectivity,context,encryption status,features,multicast list,sysdump,clustermesh status,hubble"), "it changes a cluster"},
	{"cluster", "kops", unless(0, 2, "export,toolbox,edit"), "it changes a cluster"},
	{"cluster", "cmctl,clusterctl,vcluster,odo,okteto,devspace,garden,rosa,faas-cli,func,kapp,k0sctl,werf", unless(0, 2, `add plugin,analyze,app-group inspect,build,cleanup images,config,connect,context,create api,
		create deployment,dev build,download,experimental,generate,init,kubeconfig,list-plugins,login,logout,namespace,new,options,preference,render,start,registry list,template,test,
		up-to-date,use,init-completion,repository,analyze bindings`), "it changes a cluster"},
	{"cluster", "skaffold apply,tilt down,tilt ci,kompose up", nil, "it changes a cluster"},
	{"cluster", "kubeadm upgrade,kubeadm certs,kubeadm token", unless(1, 1, "check-expiration,generate,generate-csr,certificate-key"), "it changes a cluster"},
	{"cluster", "nomad", unless(0, 2, `agent,agent-info,alloc exec,alloc fs,exec,fmt,fs,job allocs,job deployments,job init,job scaling-events,login,
		monitor,operator api,operator debug,operator metrics,operator raft,operator snapshot,server members,tls,var init,volume init,node-status,job periodic`), "it changes a cluster"},
	{"infrastructure", "vault", all(unless(0, 2, `agent,debug,kv metadata get,login,operator diagnose,operator generate-root,operator members,operator raft,operator usage,path-help,policy fmt,pki health-check,proxy,server,ssh,token capabilities,transform,unwrap,version-history`), not(flag("-status -output-curl-string -output-policy"))), "it changes what others may read"},
	{"infrastructure", "vault operator", all(exactly("raft"), exactly("remove-peer join restore")), "it changes what others may read"},
	{"cluster", "consul", unless(0, 2, `acl,agent,catalog,config read,connect envoy,debug,intention match,keygen,lock,login,logout,monitor,operator raft,
		rtt,snapshot,tls,watch`), "it changes a cluster"},
	{"cluster", "consul acl,consul snapshot", exactly("create update delete restore"), "it changes a cluster"},
	{"cluster", "rancher,microk8s disable,microk8s reset,microk8s stop,k3sup,talosctl", unless(0, 1, `clusters,config,containers,context,disks,dmesg,etcd,gen,image,inspect,interfaces,kubeconfig,kubectl,
		login,memory,mounts,netstat,nodes,pcap,processes,projects,routes,service,settings,support,time,server,ssh,cluster`), "it changes a cluster"},

	{"cluster", "juju", unless(0, 1, `agree,actions,add-credential,add-cloud,bind,bootstrap,change-user-password,charm-resources,clouds,config,controller-config,controllers,credentials,
		dashboard,debug-code,debug-hooks,debug-log,default-credential,default-region,disabled-commands,download,download-backup,export-bundle,find,firewall-rules,import-ssh-key,
		login,logout,machines,model-config,models,offers,operation,operations,payloads,plans,regions,register,resources,retry-provisioning,run,scp,secrets,shares,spaces,ssh,ssh-keys,
		storage,storage-pools,subnets,switch,sync-agent-binary,task,unregister,update-public-clouds,users,version,whoami`), "it changes a cluster"},
	{"cluster", "juju run,juju exec", moreThan(2), "it runs something on machines of a cluster"},
	{"cluster", "juju config,juju model-config,juju controller-config", matching(`^[\w-]+=|^--reset`), "it changes a cluster"},
	{"cluster", "bosh", unless(0, 1, `add-blob,alias-env,blobs,cloud-config,config,configs,create-release,deployments,disks,env,environments,errands,events,instances,int,
		interpolate,locks,log-in,log-out,logs,manifest,releases,repack-stemcell,runtime-config,scp,ssh,stemcells,sync-blobs,task,tasks,variables,vms,vendor-package,init-release,generate-job,generate-package`), "it changes a cluster"},
	{"cluster", "maas", unless(0, 3, "login,logout,list,refresh,status,config"), "it changes machines"},
	{"cluster", "flink", unless(0, 1, "info,savepoint"), "it changes what runs in a cluster"},
	{"cluster", "spark-submit", all(some(flag("--kill"), matching(`^(yarn|spark://|k8s://|mesos://)`)), not(staysAtHome)), "it starts or ends what runs in a cluster"},
	{"cluster", "sacctmgr", unless(0, 1, "associations,dump,problem,verify"), "it changes a cluster"},
	{"cluster", "hdfs dfsadmin,hdfs haadmin,yarn rmadmin,hdfs cacheadmin,hdfs crypto,hdfs storagepolicies,hdfs namenode,hdfs balancer,hdfs ec", not(some(flag("-report -printTopology -getServiceState -getAllServiceState -checkHealth -help -listOpenFiles -metasave -listZones -listPolicies -getPolicy -getStoragePolicy -listPools -listDirectives"), exactly("get"))), "it changes a cluster"},
	{"cluster", "databricks", unless(0, 3, `auth,bundle init,bundle summary,completion,configure,current-user me,labs,fs cat,fs cp,fs head,workspace export,workspace export-dir,
		bundle generate,workspace list,sync --dry-run`), "it changes a cluster"},
	{"cluster", "databricks fs", all(exactly("cp"), intoPod), "it changes another storage"},

	// Providers and platforms.
	{"infrastructure", "aptible", some(colonVerb, exactly("deploy rebuild restart")), "it changes infrastructure"},
	{"infrastructure", "jenkins-cli,jenkins,jenkins-jobs,travis,drone,woodpecker-cli,bk,rd,circleci,appveyor,codefresh,semaphoreci,sem,teamcity,spin,octopus,octo,concourse,buildkite-agent", unless(0, 3, `annotate,artifact download,auth,branches,cache,compile,config,console,context get,convert,decrypt,diagnostic,encrypt,
		exec,executions follow,get-job,job parse,lint,local,login,logout,meta-data get,namespace,orb init,orb pack,orb process,orb source,orb validate,orb info,org,
		pipeline artifacts,policy,projects archives,raw,report,repositories,requests,runner,secret redact,settings,setup,sign,step get,switch,sync,system,test,token,update,use,user viewer,
		users info,whatsup,who-am-i,who-am-i,whoami,env copy,list-jobs,list-plugins,session-id,open,add-job,pipeline last,start`), "it changes what others build"},
	{"infrastructure", "amtool silence", exactly("add expire update import"), "it silences alerts of others"},
	{"infrastructure", "mimirtool,cortextool,lokitool,grafanactl,gcx,logcli delete,tanka,tk,grr", all(exactly("load sync delete push apply create remove set replace move reset-password"), not(exactly("diff print"))), "it changes what others watch"},
	{"system", "grafana-cli,grafana", exactly("reset-admin-password remove uninstall"), "it changes a service of the machine"},
	{"send", "zabbix_sender", not(flag("-h --help -V --version")), "it sends something to another machine"},
	{"infrastructure", "fly,flyctl", unless(0, 2, `agent,auth,builds,checklist,checks,config,console,containers,curl,dashboard,dig,execute,extensions list,
		format-pipeline,hijack,image show,intercept,ips list,jobs,login,logout,machine exec,mcp,pipelines,platform,postgres connect,proxy,releases,resources,
		services,sftp,ssh,sync,targets,teams,tokens create,userinfo,validate-pipeline,workers`), "it changes infrastructure"},
	{"infrastructure", "heroku,firebase,dokku,netlify", colonVerb, "it changes infrastructure"},
	{"database", "heroku", all(matching(`^pg:psql$`), func(c *call) bool {
		w, ok := c.FlagValue("-c", "--command")
		return ok && changesBy("", w.Value) || c.readsMore()
	}), "it changes a database of another machine"},
	{"infrastructure", "wrangler", unless(0, 3, `build,cert,containers build,d1,deploy,dev,generate,init,kv,login,logout,pages,r2,secret,setup,
		telemetry,triggers,types,complete`), "it changes infrastructure"},
	{"infrastructure", "wrangler kv,wrangler r2,wrangler pages,wrangler secret", all(unless(1, 3, "dev,download,functions,object get,project list"), not(flag("--local"))), "it changes infrastructure"},
	{"infrastructure", "vercel env,vercel domains,vercel dns,vercel certs,vercel project,vercel teams,vercel blob,vercel integration", unless(1, 1, "pull,run"), "it changes infrastructure"},
	{"infrastructure", "vercel alias,vercel promote,vercel redeploy,vercel rollback", unless(1, 1, ""), "it changes infrastructure"},
	{"infrastructure", "railway", unless(0, 1, "connect,init,link,local,login,logout,run,service,shell,ssh,unlink,variables,environment"), "it changes infrastructure"},
	{"infrastructure", "railway variables", flag("--set"), "it changes infrastructure"},
	{"infrastructure", "render", unless(0, 2, "login,psql,services instances,ssh,workspace,workspaces,kv-cli"), "it changes infrastructure"},
	{"send", "eas", all(unless(0, 1, `analytics,autocomplete,build:inspect,build:run,build:resign,build:download,config,credentials,diagnostics,env:pull,env:exec,fingerprint,
		init,login,logout,new,onboarding,project,project:init`), not(flag("--local"))), "it sends what is here to a service, or changes what others get"},
	{"infrastructure", "eb", unless(0, 1, "config,console,init,local,platform,printenv,ssh,tags,use,labs"), "it changes infrastructure"},
	{"infrastructure", "copilot", unless(0, 2, "init,svc package,svc exec,svc init,job package,job init,env init,env package,pipeline init,storage init,task exec"), "it changes infrastructure"},
	{"infrastructure", "amplify", unless(0, 2, "add,codegen,configure,console,env pull,env checkout,env get,init,mock,pull,serve,update,upgrade,override"), "it changes infrastructure"},
	{"infrastructure", "sst", unless(0, 2, "add,cert,dev,init,install,secret load,shell,telemetry,tunnel,upgrade,version"), "it changes infrastructure"},
	{"infrastructure", "supabase", unless(0, 2, `bootstrap,db diff,db lint,db pull,db reset,db start,encryption get-root-key,functions new,functions serve,functions download,gen,init,link,login,logout,
		migration new,migration squash,migration up,projects api-keys,seed,services,start,stop,storage cp,test,unlink,db dump`), "it changes infrastructure"},
	{"infrastructure", "supabase db", flag("--linked --db-url"), "it changes a database of another machine"},
	{"infrastructure", "turso,pscale,neonctl,upstash,aiven,avn,confluent,ccloud,atlas", unless(0, 3, `auth,branch schema,config,connect,connect cluster,connection-string,context,dev,init,kafka topic consume,local,login,logout,me,
		migrate diff,migrate hash,migrate lint,migrate new,password create,plugin,schema diff,schema fmt,schema inspect,service,service cli,set-context,shell,
		db shell,deployments connect,update,user login,user logout,user,version,prompt,environment,api-key use,kafka cluster use`), "it changes infrastructure"},
	{"infrastructure", "cf", unless(0, 1, `a,add-plugin-repo,api,app,apps,auth,buildpacks,check-route,config,create-app-manifest,curl,domains,download-droplet,droplets,
		e,env,feature-flags,install-plugin,isolation-segments,l,lo,login,logout,m,marketplace,network-policies,oauth-token,org,org-users,orgs,o,packages,
		passwd,plugins,quotas,quota,repo-plugins,revisions,router-groups,routes,r,s,security-groups,service,service-access,service-brokers,service-key,
		service-keys,services,space,space-quotas,space-users,spaces,ssh,ssh-code,ssh-enabled,stack,stacks,t,target,tasks,uninstall-plugin`), "it changes infrastructure"},
	{"infrastructure", "pulumi", unless(0, 2, `about,ai,config,console,convert,env,gen-completion,install,login,logout,new,org,package,plugin,policy install,policy new,policy validate-config,
		pre,schema,stack,state,template,up,update,destroy,refresh,cancel`), "it changes infrastructure"},
	{"infrastructure", "cdk", unless(0, 1, "acknowledge,ack,context,deploy,destroy,doc,drift,flags,init,metadata,migrate,notices,synth,synthesize,watch"), "it changes infrastructure"},
	{"infrastructure", "sam", unless(0, 2, "build,delete,deploy,init,local,package,pipeline,remote test-event,traces"), "it changes infrastructure"},
	{"infrastructure", "serverless,sls", unless(0, 2, "create,deploy,dev,dynamodb,config,install,invoke local,login,logout,offline,package,plugin,remove,requirements,support,doctor"), "it changes infrastructure"},
	{"infrastructure", "terraform refresh,tofu refresh,tofu taint,tofu untaint,tofu force-unlock,terragrunt taint,terragrunt untaint,terragrunt import,terragrunt refresh,terragrunt force-unlock", nil, "it changes infrastructure"},
	{"infrastructure", "terraform init,tofu init", flag("-migrate-state -force-copy"), "it moves what is known of infrastructure"},
	{"infrastructure", "gcloud", gcloudChanges, "it changes something at a provider"},
	{"infrastructure", "gsutil", all(unless(0, 2, "cat,config,cp,du,hash,kms,mv,perfdiag,rsync,signurl,test,update,help"), not(flag("-n"))), "it changes something at a provider"},
	{"infrastructure", "bq", unless(0, 1, "head,init,mkdef,query,shell"), "it changes something at a provider"},
	{"infrastructure", "doctl,linode-cli,hcloud,scw,vultr-cli,cli4,cli53,oci,openstack,exo,qm,pct,pvesh,pvecm,helmfile,vela,virt-clone,prlctl,ha-manager", some(providerChanges, all(exactly("delete terminate destroy"), not((*call).onlySays))), "it may change infrastructure"},
	{"infrastructure", "ibmcloud", all(providerChanges, not(listsKind)), "it may change infrastructure"},
	{"infrastructure", "govc", not(some(exactly("about env events find help ls metric.ls option.ls session.ls tree version"), matching(`\.(info|ls|find|get|list|events|stat)$`))), "it may change infrastructure"},
	{"infrastructure", "civo,upctl,aliyun,tccli,yc,ionosctl,otc,metal,runpodctl", unless(0, 4, `account login,apikey,config,configure,init,login,logout,k8s config,kubernetes config,profile,region,quota,
		size,oss cp,oss cat,managed-kubernetes cluster get-credentials,receive,update`), "it may change infrastructure"},

	// Code hosts and stores of images.
	{
		"publish", `gh pr,gh issue,gh repo,gh release,gh run,gh workflow,gh secret,gh variable,gh gist,gh label,gh project,gh codespace,gh cs,gh ssh-key,gh gpg-key,gh ruleset,gh cache,
		glab mr,glab issue,glab release,glab repo,glab ci,glab variable,glab label,glab snippet,glab schedule,glab ssh-key,glab deploy-key,glab token,glab iteration,glab incident,glab milestone,
		lab mr,lab issue,lab project,lab ci,lab snippet,tea pulls,tea pr,tea issues,tea releases,tea repos,tea labels,tea milestones,tea webhooks`,
		unless(1, 1, "archive,artifact,autolink,checkout,checks,clone,code,config,contributors,cp,deploy-key,download,for,gitignore,jupyter,license,lint,ports,rebase,set-default,ssh,trace,watch,web"), "it changes something that others see",
	},
	{"publish", "glab api,lab api", flag("-X --method -f --raw-field -F --field --input"), "it changes something that others see"},
	{"publish", "crane", all(unless(0, 1, "auth,blob,catalog,config,digest,export,index,manifest,pull,registry,append,flatten,mutate,rebase"), not(inLocalRegistry)), "it publishes an image"},
	{"publish", "crane append,crane mutate,crane flatten,crane rebase", not(some(inLocalRegistry, flag("-o --output"))), "it publishes an image"},
	{"publish", "regctl image,regctl tag,regctl manifest,regctl artifact,regctl blob,regctl index", all(unless(1, 1, "check-base,config,digest,export,get-file,inspect,manifest,ratelimit,tree"), not(inLocalRegistry)), "it publishes an image"},
	{"publish", "oras", all(unless(0, 2, "blob fetch,discover,login,logout,manifest fetch,manifest fetch-config,manifest index,pull,repo tags,resolve,backup"), not(some(toLoopback, toLocalImage))), "it publishes something, which cannot be taken back"},
	{"publish", "jfrog rt,jf rt", all(unless(1, 1, "curl,c,dl,download,gpl,gradle,mvn,npm,p,ping,s,search,vcs"), not(flag("-X"))), "it publishes something, which cannot be taken back"},
	{"publish", "notation,cosign,imgpkg,wkg,img,buildah manifest,podman manifest,finch,regclient", all(exactly("push sign attach attest upload copy clean publish"), not(some(toLoopback, toLocalImage))), "it publishes something, which cannot be taken back"},
	{"publish", "ko build,ko publish,ko resolve,ko apply,ko create,ko run", not(some(flag("--local -L"), exactly("--push=false"))), "it publishes an image"},

	// Queues and databases that are clusters.
	{"database", "rabbitmqctl", unless(0, 1, `add_user,add_vhost,authenticate_user,await_online_nodes,await_startup,cipher_suites,cluster_status,decode,encode,environment,eval,
		export_definitions,hash_password,log_location,log_tail,node_health_check,report,schema_info,set_permissions,start_app`), "it changes queues, or those who use them"},
	{"database", "nodetool", unless(0, 1, `cfhistograms,cfstats,clientstats,compactionhistory,compactionstats,datapaths,describecluster,describering,failuredetector,
		gcstats,gossipinfo,listsnapshots,netstats,profileload,proxyhistograms,rangekeysample,ring,statusbackup,statusbinary,statusgossip,
		statushandoff,tablehistograms,tablestats,toppartitions,tpstats,viewbuildstatus`), "it changes a cluster of databases"},
	{"database", "pulsar-admin,pulsarctl,kafkactl,kaf,temporal,tctl", all(unless(0, 2, "attach,clone,config,context,ctx,server,use-context,workflow trace,env,documentation"), not(staysAtHome)), "it changes queues, or what is in them"},
	{"database", "pulsar-client,pulsar-perf", exactly("produce"), "it sends something to other programs"},
	{"database", "rpk topic,rpk group,rpk acl,rpk user,rpk security", unless(1, 2, "analyze,storage"), "it changes queues, or what is in them"},
	{"database", "nats", all(unless(0, 2, "account,bench,consumer next,context,object get,rtt,schema,server ping,server request,sub,subscribe"), not(hereByServer)), "it changes queues, or what is in them"},
	{"database", "rabbitmqadmin", all(some(unless(0, 1, "show"), matching(`ackmode=\w+_requeue_false`)), not(hereByHost)), "it changes queues, or what is in them"},
	{"database", "kafka-topics,kafka-topics.sh", all(flag("--alter --create"), callsBroker), "it changes a topic"},
	{
		"database", "kafka-leader-election,kafka-leader-election.sh,kafka-mirror-maker,kafka-mirror-maker.sh,kafka-producer-perf-test,kafka-producer-perf-test.sh,kafka-streams-application-reset,kafka-streams-application-reset.sh,kafka-delegation-tokens,kafka-delegation-tokens.sh",
		all(someArgument, not(some(flag("--describe --help --version --dry-run"), not(callsBroker)))), "it changes a cluster of queues",
	},
	{"database", "kafka-storage,kafka-storage.sh", exactly("format"), "it makes a store where something may be"},
}

// quietWords only ask, whatever the program.
var quietWords = words(`get list ls show describe status info help version log logs view diff plan preview inspect top history events stats check
	verify validate lint print dump search find wait docs completion tail usage read stat members export consume peek lookup ps dashboard ui
	open browse display metrics report watch doctor graph trace health whoami explain monitor stern ping`)

// quiet reports whether a word of a closed program only asks: list, get-policy, list_queues, pg:info.
func quiet(word string) bool {
	parts := wordParts(word)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return quietWords[strings.ToLower(word)] || askFirst[parts[0]] || (askLast[last] || last == "show") && verbs[parts[0]].weight == 0 && !changing[parts[0]] || strings.Contains(word, ":") && (quietWords[last] || askFirst[last])
}

// valuedBefore are flags that take a value and may stand before the verb of a closed program.
const valuedBefore = `-n --namespace --context --kubeconfig --cluster --user -s --server -p --profile --project --region --zone --account -a --app --org --organization -R --repo -C --cwd --dir -e --env --environment -t --token -i --inventory --target --stage --config --host -H --address --url --endpoint --kube-context --stack -g --resource-group --brokers --bootstrap-server --admin-url --account-id --workspace --compartment-id --format -o --output -h -u -pw -pwf --port -d --deployment -m --model`

// toldWords returns the words that a call says before the first that is a name or a value, at most five. A file or
// an address right after a flag is that flag's.
func (c *call) toldWords() (ws []string) {
	valued := " " + valuedBefore + " "
	for i, w := range c.Args {
		before := ""
		if i > 0 {
			before = c.Args[i-1].Value
		}
		switch afterFlag := len(before) > 1 && before[0] == '-'; {
		case afterFlag && strings.Contains(valued, " "+before+" "), len(w.Value) > 1 && w.Value[0] == '-':
		case w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value):
			if !afterFlag {
				return ws
			}
		case len(ws) == 5:
			return ws
		default:
			ws = append(ws, w.Value)
		}
	}
	return ws
}

// unless returns the condition that none of the first words asks, as many as depth says, and that they begin
// with none of some phrases, which are separated by commas. skip is how many words the rule itself names.
func unless(skip, depth int, phrases string) func(*call) bool {
	asks := map[string]bool{}
	for p := range strings.SplitSeq(phrases, ",") {
		asks[strings.TrimSpace(p)] = true
	}
	return func(c *call) bool {
		ws := c.toldWords()
		if len(ws) <= skip {
			return false
		}
		ws = ws[skip:]
		if w := ws[0]; len(ws) == 1 && len(shell.Operands(c.Args, valuedBefore)) == 1 && strings.HasSuffix(w, "s") && verbs[wordParts(w)[0]].weight == 0 {
			return false // a kind of things alone is listed
		}
		for i := range ws[:min(3, len(ws))] {
			if asks[strings.Join(ws[:i+1], " ")] {
				return false
			}
		}
		for _, w := range ws[:min(depth, len(ws))] {
			if parts := wordParts(w); verbs[strings.ToLower(w)].weight == strong || onlyChanges[w] || len(parts) > 1 && removes[parts[len(parts)-1]] && !strings.Contains(w, ":") {
				return true
			}
			if quiet(w) {
				return false
			}
		}
		return true
	}
}

// providerChanges reports whether a client of a provider, or of virtual machines, is told to do more than ask.
var providerChanges = unless(0, 4, `about,account,agent,aliases,auth,completion,configure,config,console,context,databases connection,enter,find,g,init,kubernetes cluster kubeconfig,k8s kubeconfig,l,login,logout,os ns get,
	plugin,profile,regions,registry login,serverless connect,session,setup,shell,showcmd,sizes,ssh,target,template,write-values,deps,repos,cr login,ks cluster config,iam oauth-tokens,server ssh,token`)

// listsKind reports whether a call names a kind of things and no thing.
func listsKind(c *call) bool {
	ws := c.toldWords()
	return len(ws) > 0 && len(ws) < 3 && len(shell.Operands(c.Args, valuedBefore)) == len(ws) && strings.HasSuffix(ws[len(ws)-1], "s") && verbs[ws[0]].weight == 0 && !changing[ws[0]]
}

// hereByServer and hereByHost report whether a flag says that a client of a broker talks to this machine.
func hereByServer(c *call) bool {
	w, ok := c.FlagValue("-s", "--server")
	return ok && loopback(w.Value)
}

func hereByHost(c *call) bool {
	w, ok := c.FlagValue("-h", "--host", "-H")
	return ok && loopback(w.Value)
}

// onlyChanges are verbs after which a word that may ask is a name, and which are no names themselves.
var onlyChanges = words("add apply create disable edit enable patch remove rm restart set start stop update upgrade")

// removes are verbs that end a longer word which removes: bulk-delete.
var removes = words("delete destroy purge terminate")

// colonQuiet are the last parts of words with colons that only ask, or stay on this machine.
var colonQuiet = words(`list info get show status ps diff wait open psql cli pull download url credentials report exists export connect enter keys copy
	remote clone exec start serve build shell log print sdkconfig describe dev locks long-running-queries outliers bloat blocking cache-hit
	index-size settings output backups indexes stages invoke types discover favorites help logs inspect test local set-default ports links events install link lint`)

// colonVerb reports whether a word such as apps:destroy does more than ask.
func colonVerb(c *call) bool {
	ws := c.toldWords()
	if len(ws) == 0 || !strings.Contains(ws[0], ":") || strings.HasPrefix(ws[0], "local:") || strings.HasPrefix(ws[0], "plugins:") || strings.HasPrefix(ws[0], "auth:") && c.Name == "heroku" {
		return false
	}
	last := ws[0][strings.LastIndexByte(ws[0], ':')+1:]
	return ws[0] == "pg:copy" || last != "" && !colonQuiet[last] && !strings.HasPrefix(ws[0], "emulators:") && !strings.HasPrefix(ws[0], "experimental:")
}

// gcloudQuiet are groups, and words anywhere, of gcloud that only ask or stay on this machine.
var (
	gcloudQuiet = words("auth components config emulators feedback help info init survey topic version cheat-sheet docker anthos")
	gcloudAsks  = words(`access describe list read tail search lookup log logs ls cat du hash stat browse download get-credentials connect-to-serial-port
		config-ssh start-iap-tunnel ssh sign-url wait query analyze evaluate lint validate verify check query-accessible-resources versions-access
		test-iam-permissions troubleshoot diff local cp rsync mv scp decrypt encrypt print-access-token`)
)

// gcloudChanges reports whether an operation of gcloud does more than ask.
func gcloudChanges(c *call) bool {
	ws := c.toldWords()
	for len(ws) > 0 && (ws[0] == "alpha" || ws[0] == "beta" || ws[0] == "preview") {
		ws = ws[1:]
	}
	if len(ws) < 2 || gcloudQuiet[ws[0]] {
		return false
	}
	if len(ws) > 1 && ws[1] == "scp" {
		all := c.operands("--project --zone --region --tunnel-through-iap")
		return isRemote(all[len(all)-1].Value)
	}
	switch all := shell.Operands(c.Args, "--project --account"); {
	case ws[0] == "storage" && words("cp rsync mv")[ws[1]]:
		bucket := func(w shell.Word) bool { return strings.Contains(w.Value, "://") }
		return bucket(all[len(all)-1]) || ws[1] == "mv" && slices.ContainsFunc(all, bucket) || flag("--delete-unmatched-destination-objects")(c) && c.outside(all[len(all)-1], true)
	case slices.Contains(ws, "execute-sql"):
		if w, ok := c.FlagValue("--sql"); ok {
			return w.Dynamic || changesBy("", w.Value)
		}
	}
	for _, w := range ws {
		switch {
		case verbs[w].weight == strong:
			return true
		case gcloudAsks[w], askFirst[wordParts(w)[0]]:
			return false
		}
	}
	return true
}

// inLocalRegistry reports whether a call names an image of a registry on this machine.
func inLocalRegistry(c *call) bool {
	return c.names(func(s string) bool {
		registry, _, ok := strings.Cut(s, "/")
		return ok && registry != "" && local(registry)
	})
}

// intoPod reports whether a copy goes to a pod, or to another store with a colon in its names.
func intoPod(c *call) bool {
	ws := c.operands("-n --namespace -c --container --context")
	return len(ws) > 1 && strings.Contains(ws[len(ws)-1].Value, ":")
}

// callsBroker reports whether the brokers or the keeper that a flag names are on another machine.
func callsBroker(c *call) bool {
	w, ok := c.FlagValue("--bootstrap-server", "--broker-list", "--zookeeper", "--bootstrap-servers", "--producer-props")
	return ok && !w.Dynamic && !local(w.Value)
}
