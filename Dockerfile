# syntax=docker/dockerfile:1

# The compiler and the development packages stay in this stage.
FROM node:20-bookworm-slim AS build
# Debian removes the versions that one would pin.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 make g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --include=dev --include=optional --no-audit --no-fund
COPY . .
RUN npx nest build && npm prune --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production \
    BRIDLE_SERVER_HOST=0.0.0.0 \
    BRIDLE_SERVER_ROLE=all \
    BRIDLE_STORAGE_DIR=/data \
    BRIDLE_DATABASE_URL=sqlite:/data/bridle.sqlite
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY proto ./proto
COPY package.json LICENSE ./
RUN install -d -o node -g node -m 0700 /data
# A number, because Kubernetes cannot tell by a name that it is not root; node's image calls it node.
USER 1000:1000
VOLUME /data
EXPOSE 8000 50051
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BRIDLE_SERVER_HTTP_PORT ?? 8000}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Node itself is process 1, so SIGTERM reaches the server.
CMD ["node", "dist/main.js"]
