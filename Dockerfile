# The image of Recount: its programs on glibc, for a user that is not root.
#
#   docker build -t recount .
#   docker run --rm recount quickstart
#
# The program parses source code with tree-sitter, which is C: the build needs cgo and
# a C compiler (golang's image has one), and the runtime the same C library.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY . .
ARG VERSION=0.1.0-dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=1 go build -tags grpcnotrace -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/recount ./cmd/recount-pipeline && \
    mv /out/recount /out/recount-engine && \
    CGO_ENABLED=0 go build -tags grpcnotrace -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/recount-front ./cmd/recount-local ./cmd/recount-record && \
    mv /out/recount-front /out/recount

FROM debian:bookworm-slim
# git reads repositories, ca-certificates speak TLS to brokers and collectors.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /data recount && install -d -o recount -m 0700 /data
COPY --from=build /out/ /usr/local/bin/
COPY LICENSE /usr/share/doc/recount/
USER recount
ENV RECOUNT_DATA_DIR=/data
VOLUME /data
EXPOSE 7171 9092 4317 4318
ENTRYPOINT ["recount"]
