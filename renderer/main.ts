// Starts the window: finds the access token, connects, shows the frame or asks for the token.

import { mount } from 'svelte';
import './styles/tokens.css';
import './styles/base.css';
import Root from './root.svelte';

const target = document.getElementById('app');
if (target !== null) mount(Root, { target });
