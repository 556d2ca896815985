FROM node:20-slim

# The Temporal SDK's native part reads the system's certificates for TLS; the slim image has none.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

USER node
CMD ["npm", "run", "example:worker"]
