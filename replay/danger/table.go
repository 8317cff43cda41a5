package danger

import (
	"strings"
	"sync"
)

// table has all rules. A line is what it endangers, the programs, a condition, and what it does.
var table = []rule{
	// Files.
	{"remove", "rm,rmdir,unlink,shred,srm,trash,trash-put,gio", removesOutside, "it removes what is outside the tree, or a repository, or what is not known before it runs"},
	{"remove", "find,gfind,bfs", deletesOutside, "it removes what it finds outside the tree"},
	{"remove", "mv,gmv", movesOutside, "it moves something away from outside the tree"},
	{"remove", "rsync", all(flag("--delete --delete-before --delete-after --delete-excluded --delete-during --remove-source-files"), some(toElsewhere, lastOfSystem, rsyncOutside)), "it removes files at its destination"},
	{"remove", "crontab", flag("-r"), "it removes all scheduled commands of the user"},
	{"remove", "gpg,gpg2", flag("--delete-secret-keys --delete-keys --delete-key --delete-secret-key --delete-secret-and-public-key"), "it removes keys"},
	{"remove", "rclone purge,rclone delete,rclone deletefile,rclone sync,rclone move,rclone rmdirs", nil, "it removes files of another storage"},
	{"system", "cp,mv,ln,install,gcp", lastOfSystem, "it replaces files that belong to the machine"},
	{"system", "tee,sponge,truncate,touch,mkdir,rename", ofSystem, "it writes files that belong to the machine"},
	{"system", "sed,gsed,perl", all(some(flag("-i --in-place"), matching(`^-[a-z]*i`)), some(ofSystem, (*call).givenOutside)), "it changes files outside the tree"},
	{"system", "tar,bsdtar", all(not(flag("-t --list -c --create")), flagOfSystem("-C --directory")), "it unpacks into a directory that belongs to the machine"},
	{"system", "unzip", flagOfSystem("-d"), "it unpacks into a directory that belongs to the machine"},
	{"system", "wget,curl", flagOfSystem("-O -o --output --output-document -P --directory-prefix"), "it writes files that belong to the machine"},
	{"permissions", "chmod,chown,chgrp,setfacl,chattr,chcon", some(all(flag("-R --recursive"), treeOutside), ofSystem, (*call).givenOutside), "it changes owners or permissions outside the tree"},

	// Disks and the machine.
	{"disk", "dd,dcfldd", overwritesDevice, "it overwrites a device, or a file outside the tree"},
	{"disk", "mkfs,mke2fs,mkswap,mkdosfs,wipefs,blkdiscard,sgdisk,cfdisk,partprobe,pvcreate,pvremove,vgremove,vgreduce,lvremove,lvreduce,resize2fs,tune2fs,nwipe,badblocks,flashrom", not(flag("-h --help -V --version")), "it changes a disk or a file system"},
	{"disk", "fdisk,parted,sfdisk,gdisk", not(some(flag("-l --list -d --dump"), exactly("print"))), "it changes the partitions of a disk"},
	{"disk", "cryptsetup luksFormat,cryptsetup erase,cryptsetup luksErase,cryptsetup luksKillSlot,zpool destroy,zpool labelclear,zfs destroy,zfs rollback,btrfs subvolume,diskutil eraseDisk,diskutil eraseVolume,diskutil partitionDisk", nil, "it destroys a volume"},
	{"disk", "mdadm", flag("--create --zero-superblock --stop --remove --fail"), "it changes an array of disks"},
	{"disk", "hdparm", flag("--security-erase --trim-sector-ranges --write-sector --make-bad-sector"), "it overwrites a disk"},
	{"disk", "mount,umount,losetup", all(someOperand, not(flag("-l"))), "it changes what is mounted on the machine"},
	{"disk", "swapoff", nil, "it changes what is mounted on the machine"},
	{"power", "reboot,shutdown,halt,poweroff,pm-suspend,telinit", not(flag("--help -c")), "it stops or restarts the machine"},
	{"power", "init", exactly("0 1 6 s S"), "it stops or restarts the machine"},
	{"power", "systemctl reboot,systemctl poweroff,systemctl halt,systemctl suspend,systemctl hibernate,systemctl rescue,systemctl emergency,systemctl kexec", nil, "it stops or restarts the machine"},
	{"system", "systemctl stop,systemctl restart,systemctl disable,systemctl mask,systemctl kill,systemctl isolate,systemctl enable,systemctl start,systemctl set-default,launchctl unload,launchctl bootout,launchctl remove,launchctl load,supervisorctl stop,supervisorctl restart,supervisorctl shutdown,rc-service,sv stop,pm2 delete,pm2 kill", not(flag("--user")), "it changes which services of the machine run"},
	{"system", "service", exactly("stop restart start reload"), "it changes which services of the machine run"},
	{"system", "iptables,ip6tables,ebtables", not(flag("-L --list -S --list-rules -n")), "it changes the machine's firewall"},
	{"system", "nft", not(exactly("list")), "it changes the machine's firewall"},
	{"system", "ufw", not(exactly("status show version")), "it changes the machine's firewall"},
	{"system", "firewall-cmd", not(matching(`^--(list|get|state|query)`)), "it changes the machine's firewall"},
	{"system", "ifconfig", exactly("up down del delete add"), "it changes the machine's network"},
	{"system", "ip", exactly("set del delete add flush replace change"), "it changes the machine's network"},
	{"system", "route", exactly("add del delete flush"), "it changes the machine's network"},
	{"system", "nmcli", exactly("down delete modify off add"), "it changes the machine's network"},
	{"system", "useradd,userdel,usermod,groupadd,groupdel,groupmod,adduser,deluser,addgroup,delgroup,passwd,chpasswd,chage,visudo,vipw,gpasswd,setcap,pwconv", not(flag("-S --status -l --list --help")), "it changes the machine's users or privileges"},
	{"system", "modprobe,insmod,rmmod,kexec", nil, "it changes the running kernel"},
	{"system", "sysctl", some(flag("-w --write -p --load"), matching(`=`)), "it changes the running kernel"},
	{"system", "setenforce,semanage,setsebool,update-grub,grub-install,grub-mkconfig,update-initramfs,dracut,dpkg-reconfigure,update-alternatives,ldconfig,efibootmgr,bootctl,fw_setenv", not(flag("-p -v --print-cache --display --list --query --config --help")), "it changes how the machine runs or starts"},
	{"system", "timedatectl set-time,timedatectl set-timezone,timedatectl set-ntp,hostnamectl set-hostname,hostnamectl hostname,localectl set-locale,loginctl terminate-user,loginctl kill-user", nil, "it changes settings of the machine"},
	{"system", "date", flag("-s --set"), "it sets the machine's clock"},
	{"system", "crontab", all(not(flag("-l -r -e")), someInput), "it replaces all scheduled commands of the user"},
	{"system", "apt-get remove,apt-get purge,apt-get autoremove,apt-get dist-upgrade,apt remove,apt purge,apt autoremove,apt full-upgrade,yum remove,yum erase,dnf remove,dnf erase,apk del,zypper remove,snap remove,brew uninstall,brew remove,flatpak uninstall", not(flag("-s --simulate --dry-run -n")), "it removes software from the machine"},
	{"system", "dpkg", flag("-r -P --remove --purge --force-all"), "it removes software from the machine"},
	{"system", "rpm", flag("-e --erase"), "it removes software from the machine"},
	{"system", "pacman", matching(`^-R`), "it removes software from the machine"},
	{"process", "kill", killsByNumber, "it ends a process by a number or a search, which may be another one by now"},
	{"process", "pkill,killall,killall5,xkill,skill", not(flag("-l --list -0")), "it ends every process of that name, whoever started it"},
	{"process", "fuser", flag("-k --kill"), "it ends every process that uses something"},

	// History.
	{"history", "git push", all(some(flag("-f --force --force-with-lease --mirror --delete -d --prune"), matching(`^\+?[\w/.-]*:[\w/.-]+$|^\+`)), not(flag("-n --dry-run"))), "it changes or removes what others have fetched"},
	{"history", "git reset", flag("--hard --merge --keep"), "it discards changes that are not committed"},
	{"history", "git clean", all(some(flag("-f --force -x -d"), matching(`^-[a-z]*f`)), not(flag("-n --dry-run"))), "it removes files that git does not know"},
	{"history", "git checkout", some(flag("-f --force"), all(exactly("--"), someOperand), exactly(".")), "it discards changes that are not committed"},
	{"history", "git switch", flag("-f --force --discard-changes"), "it discards changes that are not committed"},
	{"history", "git restore", not(all(flag("-S --staged"), not(flag("-W --worktree")))), "it discards changes that are not committed"},
	{"history", "git branch", some(flag("-D -M"), all(flag("-d --delete"), flag("-f --force -r --remotes"))), "it removes a branch, merged or not"},
	{"history", "git stash", exactly("drop clear"), "it discards stashed changes"},
	{"history", "git reflog", exactly("expire delete"), "it removes what lost commits are found by"},
	{"history", "git gc", matching(`^--prune=(now|all)`), "it removes commits that nothing refers to"},
	{"history", "git filter-branch,git filter-repo,git prune,git replace", not(flag("-n --dry-run")), "it rewrites or removes commits"},
	{"history", "git update-ref", flag("-d"), "it removes a reference"},
	{"history", "git worktree", all(exactly("remove"), flag("-f --force")), "it removes a working tree with its changes"},
	{"history", "bfg", nil, "it rewrites commits"},
	{"publish", "git push", all(not(flag("-n --dry-run")), pushesAway), "it publishes commits"},
	{"publish", "git send-email", nil, "it sends mail"},
	{"publish", "hg push,svn commit,svn ci,svn delete,svn copy,git svn dcommit,git p4 submit,bzr push,jj git push", nil, "it publishes commits"},

	// Publishing.
	{"publish", "npm publish,npm unpublish,npm deprecate,npm dist-tag,npm owner,npm access,npm token,yarn publish,yarn npm publish,pnpm publish,bun publish,lerna publish,changeset publish,cargo publish,cargo yank,cargo owner,gem push,gem yank,poetry publish,flit publish,uv publish,hatch publish,pdm publish,maturin publish,twine upload,conda upload,anaconda upload,luarocks upload,pod trunk,nuget push,dotnet nuget push,vsce publish,ovsx publish,helm push,oras push,docker push,podman push,buildah push,nerdctl push,docker compose push,docker-compose push,docker manifest push,crane push,crane copy,crane delete,skopeo copy,skopeo delete,skopeo sync,flutter publish,dart pub publish,mix hex.publish,opam publish,composer publish,snapcraft upload,snapcraft release,snapcraft push,cosign sign,hub release,jfrog rt,jf rt,cargo release", not(flag("--dry-run -n")), "it publishes something, which cannot be taken back"},
	{"publish", "semantic-release,release-it,np,cpan-upload", not(flag("--dry-run -d")), "it publishes something, which cannot be taken back"},
	{"publish", "docker buildx build,docker build,docker buildx,buildctl build", flag("--push"), "it publishes an image"},
	{"publish", "mvn,mvnw", some(exactly("deploy release:perform release:prepare nexus-staging:release"), matching(`^deploy:`)), "it publishes something, which cannot be taken back"},
	{"publish", "gradle,gradlew", matching(`^:?([\w-]+:)*(publish\w*|uploadArchives|bintrayUpload|closeAndRelease\w*)$`), "it publishes something, which cannot be taken back"},
	{"publish", "sbt", matching(`publish|release`), "it publishes something, which cannot be taken back"},
	{"publish", "goreleaser release", not(flag("--snapshot --skip-publish --skip")), "it publishes something, which cannot be taken back"},
	{"publish", "make,gmake,just,task,rake", exactly("publish release deploy upload ship"), "its target says that it publishes or deploys"},
	{"publish", "npm run,yarn run,pnpm run,bun run", exactly("publish release deploy upload ship"), "its script says that it publishes or deploys"},
	{"publish", "yarn deploy,yarn release,pnpm deploy,cap deploy,fab deploy,mina deploy,dep deploy", nil, "its name says that it publishes or deploys"},
	{"publish", "gh release,gh repo,gh pr,gh issue,gh secret,gh workflow,gh run,gh gist,gh variable,gh ssh-key,gh gpg-key,gh label,gh cache,glab mr,glab issue,glab release,glab repo,glab ci,hub pull-request,hub delete,hub create", exactly("create delete upload edit merge close reopen comment review archive rename transfer lock set remove run cancel rerun disable enable sync fork ready add pull-request deploy-key trigger"), "it changes something that others see"},
	{"publish", "gh api", some(flag("-X --method -f --raw-field -F --field --input")), "it changes something that others see"},
	{"send", "scp,sftp,rsync,rcp", toElsewhere, "it copies files to another machine"},
	{"send", "ftp,lftp,ncftpput,sftp,tftp,curlftpfs", someOperand, "it can copy files to another machine"},
	{"send", "rclone copy,rclone copyto,rclone moveto,mc cp,mc mirror,mc rm,mc rb,s3cmd put,s3cmd sync,s3cmd del,s3cmd rb,b2 upload-file,b2 sync,wormhole send,croc send,azcopy copy,azcopy sync,azcopy remove", nil, "it changes another storage"},
	{"send", "curl", uploads, "it sends something to another machine, or changes it"},
	{"send", "wget", all(some(flag("--post-data --post-file --method --body-data --body-file")), wgetAway), "it sends something to another machine"},
	{"send", "http,https,xh,xhs", methodChanges, "it sends something to another machine, or changes it"},
	{"send", "grpcurl", all(flag("-d"), func(c *call) bool { return !matching(`^(localhost|127\.|\[::1\])`)(c) }), "it sends something to another machine"},
	{"send", "nc,ncat,netcat,socat,telnet,websocat", sendsAway, "it sends something to another machine"},
	{"mail", "mail,mailx,s-nail,mutt,neomutt,sendmail,msmtp,ssmtp,swaks,mpack,exim,exim4,telegram-send,slackcat,notify-send-slack,sendemail,sendEmail,smtp-cli,alpine", someArgument, "it sends a message to people"},
	{"mail", "wall,write", someInput, "it sends a message to people"},

	// Other machines.
	{"remote", "ssh,rsh,mosh,docker-machine", changesElsewhere, "it changes something on another machine"},
	{"remote", "ssh-copy-id", nil, "it changes who may log in to another machine"},
	{"remote", "ansible,ansible-playbook,salt,salt-ssh,pssh,parallel-ssh,pdsh,knife,chef-client,puppet,fab,cap,clush,dsh", not(some(flag("--check -C --list-hosts --syntax-check --list-tasks --noop --version"), exactly("--noop"))), "it changes other machines"},
	{"cluster", "kubectl delete,kubectl drain,kubectl cordon,kubectl uncordon,kubectl taint,kubectl replace,kubectl apply,kubectl create,kubectl patch,kubectl edit,kubectl scale,kubectl autoscale,kubectl set,kubectl run,kubectl expose,kubectl annotate,kubectl label,kubectl exec,kubectl cp,kubectl debug,oc delete,oc apply,oc create,oc scale,oc adm,oc new-app,oc patch,oc replace,helm install,helm upgrade,helm uninstall,helm delete,helm rollback,istioctl install,istioctl uninstall,argocd app,flux delete,flux reconcile,flux bootstrap,kustomize edit,kubeadm reset,kubeadm init,kubeadm join,eksctl create,eksctl delete,kops delete,kops update,kops create,kind delete,minikube delete,k3d cluster,nomad job,nomad stop,nomad run,skaffold run,skaffold deploy,skaffold delete,velero delete,velero restore,rancher kubectl,docker stack,docker service,docker swarm,docker node", not(some(matching(`^--dry-run(=(client|server|true))?$`), exactly("list get status history ps ls inspect logs services"))), "it changes a cluster"},
	{"cluster", "kubectl rollout", exactly("restart undo pause resume"), "it changes a cluster"},
	{"infrastructure", "terraform apply,terraform destroy,terraform import,terraform taint,terraform untaint,terraform force-unlock,tofu apply,tofu destroy,tofu import,terragrunt apply,terragrunt destroy,terragrunt run-all,pulumi up,pulumi destroy,pulumi cancel,pulumi refresh,cdk deploy,cdk destroy,cdktf deploy,cdktf destroy,sam deploy,sam delete,serverless deploy,serverless remove,sls deploy,sls remove,vagrant destroy,packer build,eb deploy,eb terminate,eb create,copilot deploy,copilot svc,flyctl deploy,flyctl destroy,fly deploy,fly destroy,fly apps,heroku pg:reset,heroku apps:destroy,heroku config:set,heroku config:unset,heroku run,heroku ps:scale,heroku releases:rollback,heroku maintenance:on,vercel deploy,vercel remove,vercel rm,netlify deploy,netlify sites:delete,wrangler publish,wrangler deploy,wrangler delete,firebase deploy,firebase firestore:delete,cf push,cf delete,cf delete-org,cf delete-space,render deploy,railway up,railway down,dokku apps:destroy,virsh destroy,virsh undefine,virsh shutdown,virsh reset,vboxmanage unregistervm,VBoxManage unregistervm,VBoxManage controlvm,lxc delete,lxc stop,incus delete,multipass delete,multipass purge,consul kv,vault delete,vault kv,vault write,vault lease,vault secrets,vault operator,etcdctl del,etcdctl put,etcdctl defrag,doctl compute,doctl kubernetes,doctl apps,linode-cli linodes,hcloud server,openstack server,nova delete", not(some(exactly("get list show status --dry-run --noop read logs ls"))), "it changes infrastructure"},
	{"infrastructure", "terraform state,tofu state", exactly("rm mv push replace-provider"), "it changes what is known of infrastructure"},
	{"infrastructure", "terraform workspace,pulumi stack", exactly("delete rm"), "it changes what is known of infrastructure"},
	{"infrastructure", "aws", all(awsChanges, not(flag("--dry-run --dryrun"))), "it changes something at a provider"},
	{"infrastructure", "gcloud,gsutil,bq", exactly("delete create deploy update reset stop start rm rb mb cp mv rsync patch add remove set-iam-policy add-iam-policy-binding remove-iam-policy-binding resize suspend undelete import promote submit set setmeta disable enable rollback"), "it changes something at a provider"},
	{"infrastructure", "az", exactly("delete create update start stop restart deallocate purge remove add set upload upload-batch delete-batch invoke deploy up failover reset assign scale"), "it changes something at a provider"},

	// Data and containers.
	{"database", "dropdb,dropuser,pg_resetwal,pg_dropcluster,mysqldrop", nil, "it removes a database"},
	{"database", "psql,mysql,mariadb,sqlplus,sqlcmd,cqlsh,mongo,mongosh,clickhouse-client,cockroach,duckdb,influx,bq,snowsql,hive,beeline", destroysData, "it removes data from a database"},
	{"database", "sqlite3", all(destroysData, sqliteOutside), "it removes data from a database"},
	{"database", "mysqladmin", exactly("drop shutdown flush-privileges"), "it removes a database, or stops its server"},
	{"database", "redis-cli,valkey-cli", matchingFold("flushall flushdb shutdown del unlink"), "it removes data from a database"},
	{"database", "rails,rake", matching(`^db:(drop|reset|purge|schema:load|migrate:reset|truncate_all)`), "it removes a database"},
	{"database", "artisan", matching(`^(migrate:(fresh|reset|rollback|refresh)|db:wipe)$`), "it removes data from a database"},
	{"database", "php", matching(`^(migrate:(fresh|reset|rollback|refresh)|db:wipe|doctrine:database:drop|doctrine:schema:drop)$`), "it removes data from a database"},
	{"database", "prisma", all(exactly("reset push"), someOperand), "it removes data from a database"},
	{"database", "alembic,flyway,liquibase,knex,sequelize,goose,dbmate,migrate", exactly("downgrade clean drop-all dropAll migrate:rollback db:drop db:migrate:undo:all drop down reset"), "it removes data from a database"},
	{"database", "manage.py,django-admin,python,python3", matching(`^(flush|reset_db|sqlflush|zap_db)$`), "it removes data from a database"},
	{"database", "pg_restore", flag("-c --clean --create -C"), "it replaces a database"},
	{"database", "kafka-topics,kafka-topics.sh,kafka-delete-records,kafka-delete-records.sh", flag("--delete"), "it removes a topic"},
	{"database", "kafka-delete-records,kafka-delete-records.sh", nil, "it removes records"},
	{"database", "rpk topic", exactly("delete trim-prefix"), "it removes a topic"},
	{"database", "rabbitmqctl", exactly("reset force_reset delete_queue delete_vhost delete_user purge_queue stop stop_app"), "it removes queues or stops their server"},
	{"containers", "docker system,podman system,docker image,podman image,docker container,podman container,docker volume,podman volume,docker network,podman network,docker builder", exactly("prune reset"), "it removes whatever is not in use, whoever made it"},
	{"containers", "docker volume,podman volume", exactly("rm remove"), "it removes data of containers"},
	{"containers", "docker compose,docker-compose,podman-compose", all(exactly("down rm"), flag("-v --volumes")), "it removes data of containers"},
	{"containers", "docker rm,docker stop,docker kill,docker rmi,podman rm,podman stop,podman kill,podman rmi", matching("^(\\$\\(|`)(docker|podman) (ps|images|container|image)"), "it stops or removes whatever is there, whoever started it"},
	{"containers", "podman rm,podman stop,podman kill,podman rmi", flag("-a --all"), "it stops or removes whatever is there, whoever started it"},
	{"containers", "docker run,podman run,docker create", some(flag("--privileged"), exactly("--pid=host --ipc=host --userns=host"), matching(`^(-v)?/:/|^--volume=/:/|^(-v)?/var/run/docker\.sock`)), "it gives a container the whole machine"},
	{"code", "sh,bash,zsh,dash,ksh,ash,fish,python,python3,perl,ruby,node,php,lua,Rscript,eval,source,.", runsFetched, "it runs what it fetches from the network, unseen"},
}

var index = sync.OnceValue(func() map[string][]rule {
	m := map[string][]rule{}
	for _, r := range table {
		for name := range strings.SplitSeq(r.programs, ",") {
			m[name] = append(m[name], r)
		}
	}
	return m
})
