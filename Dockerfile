# Stint as an image: its Debian package (scripts/package), built on Debian 12 and installed on Debian 12 with nothing but
# what it links.
#   docker build -t stint .
#   docker run -p 8080:8080 -v "$PWD/stint.yaml:/etc/stint/stint.yaml:ro" stint

FROM debian:12-slim AS build
COPY scripts/common.sh scripts/install-deps /src/scripts/
RUN /src/scripts/install-deps build release package && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN /src/scripts/package --out /package && mv /package/stint_*.deb /stint.deb

FROM debian:12-slim
COPY --from=build /stint.deb /tmp/stint.deb
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates /tmp/stint.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/stint.deb \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin stint
COPY config/container.yaml /etc/stint/stint.yaml
USER stint
EXPOSE 8080
STOPSIGNAL SIGTERM
# Bash speaks TCP itself: the image needs no curl for this.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9901 && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["stint"]
CMD ["run", "-c", "/etc/stint/stint.yaml"]
