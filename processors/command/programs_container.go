package command

// containerPrograms are containers, clusters and the clouds they run in.
var containerPrograms = []program{
	{"docker|podman|nerdctl", catOther, "-H:host --context:arg", "sub ?*"},
	{"docker run|create", catDeploy, dockerRun, "img cmd"},
	{"docker exec", catDebug, "-e:arg -u:arg -w:r --user:arg --workdir:r --env:arg", "ctr cmd"},
	{"docker logs|inspect|top|stats|port|diff|attach|events|wait", catDebug, "-n:num --tail:num --since:str --until:str -f:str --format:str", "ctr*"},
	{"docker ps|images|version|info|history|search", catQuery, "-f:str --filter:str --format:str -n:num", "?*"},
	{"docker start|stop|restart|kill|rm|pause|unpause|rename|update", catDeploy, "-t:num -s:arg", "ctr*"},
	{"docker pull|rmi|save|load|import", catOther, "-o:w -i:r", "img*"},
	{"docker push", catDeploy, "", "img"},
	{"docker tag|commit", catBuild, "-m:str", "img img"},
	{"docker build|buildx|bake", catBuild, "-t:img -f:r --tag:img --file:r --build-arg:arg --target:arg --platform:arg", "r"},
	{"docker cp", catOther, "", "from to"},
	{"docker login|logout", catConfigure, "-u:arg -p:arg --username:arg", "host"},
	{"docker container|image|volume|network|system|builder|service|stack|swarm|node|secret|config|context", catOther, "", "sub ?*"},
	{"docker compose", catDeploy, "-f:r -p:arg --profile:arg --file:r", "sub ctr*"},
	{"docker compose logs", catDebug, "-n:num --tail:num --since:str", "ctr*"},
	{"docker compose ps|config|images|top", catQuery, "", "ctr*"},
	{"docker compose build", catBuild, "", "ctr*"},
	{"docker compose exec|run", catDebug, "-e:arg -u:arg -w:r", "ctr cmd"},
	{"docker-compose", catDeploy, "-f:r -p:arg", "sub ctr*"},
	{"docker-compose logs", catDebug, "-n:num --tail:num", "ctr*"},
	{"docker-compose ps|config|images|top", catQuery, "", "ctr*"},
	{"docker-compose build", catBuild, "", "ctr*"},
	{"docker-compose exec|run", catDebug, "-e:arg -u:arg -w:r", "ctr cmd"},
	{"kubectl|oc|k", catQuery, kubeFlags, "sub ?*"},
	{"kubectl logs|attach", catDebug, kubeFlags + " -c:ctr --tail:num --since:str", "ctr"},
	{"kubectl describe|top|debug", catDebug, kubeFlags, "word ctr*"},
	{"kubectl get|explain|api-resources|diff", catQuery, kubeFlags + " -o:arg --output:arg -l:arg", "word ctr*"},
	{"kubectl exec", catDebug, kubeFlags + " -c:ctr", "ctr cmd"},
	{"kubectl port-forward", catDebug, kubeFlags, "ctr port*"},
	{"kubectl cp", catOther, kubeFlags + " -c:ctr", "from to"},
	{"kubectl apply|create|delete|replace|patch|run|expose|scale|autoscale|set|label|annotate|edit", catDeploy, kubeFlags + " -l:arg -p:str --replicas:num --image:img", "word ctr*"},
	{"kubectl rollout", catDeploy, kubeFlags, "word ctr*"},
	{"kubectl config|cluster-info|cordon|drain|taint", catConfigure, kubeFlags, "word arg*"},
	{"helm", catDeploy, kubeFlags + " --set:arg --version:arg", "sub arg ?*"},
	{"helm list|ls|get|status|history|search|show|template|lint", catQuery, kubeFlags + " --set:arg", "arg ?*"},
	{"helm repo", catConfigure, "", "word arg url"},
	{"kustomize|skaffold|argocd|flux|kind|minikube|k3d|nomad|eksctl|istioctl", catDeploy, "-f:r -n:arg", "sub ?*"},
	{"terraform|tofu|pulumi|cdk", catDeploy, "-var:arg -var-file:r -target:arg -chdir:r", "sub ?*"},
	{"terraform plan|show|state|output|validate|graph|providers", catQuery, "-var:arg -var-file:r -target:arg -out:w", "?*"},
	{"terraform init|fmt|workspace|import", catConfigure, "-backend-config:arg", "?*"},
	{"ansible|ansible-playbook", catDeploy, "-i:r -l:host -m:arg -a:str -e:arg -u:arg", "?*"},
	{"aws|gcloud|az|doctl|heroku|fly|flyctl|vercel|netlify|wrangler|serverless|sls|cf|eb|firebase", catDeploy, "--profile:arg --region:arg --output:arg --project:arg -a:arg", "sub sub ?*"},
	{"vagrant", catDeploy, "", "sub arg*"},
	{"vagrant status|ssh-config|global-status", catQuery, "", "arg*"},
	{"crictl|ctr|buildah|skopeo|virsh|lxc|VBoxManage", catOther, "", "sub ?*"},
}

const (
	dockerRun = "-p:port -v:arg -e:arg -u:arg -w:r -h:host -l:arg -m:num --name:ctr --network:arg --env:arg --env-file:r --volume:arg " +
		"--publish:port --entrypoint:arg --mount:arg --user:arg --workdir:r --platform:arg --restart:arg --memory:num --cpus:num --hostname:host --add-host:arg --label:arg"
	kubeFlags = "-n:arg -f:r --namespace:arg --context:arg --filename:r --kubeconfig:r"
)
